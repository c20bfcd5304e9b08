import { useLocation, useNavigate } from '@tanstack/react-router';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The text of a look-up that is too long for a URL. */
    lookupText?: string;
  }
}

/** Texts up to this length, in characters of a URL, are part of the URL of the page and can be shared by it. */
const MAX_SHARED = 6_000;
const NAME = 'text=';

/**
 * Returns a function that opens the page with the results of a text. The text is behind the # of the URL, which browsers
 * do not send: no log of a server or proxy has it.
 */
export function useOpenLookup() {
  const navigate = useNavigate();
  return (text: string) => {
    const hash = NAME + encodeURIComponent(text);
    if (hash.length <= MAX_SHARED) return void navigate({ to: '/lookup', hash });
    void navigate({ to: '/lookup', state: { lookupText: text } });
  };
}

/** Returns the text of the look-up page, and whether its URL has it. */
export function useLookupText(): { text: string; isShared: boolean } {
  const { hash, state } = useLocation();
  const isShared = hash.startsWith(NAME);
  return { text: isShared ? decoded(hash.slice(NAME.length)) : (state.lookupText ?? ''), isShared };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
