import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { apiQueryOptions } from '../client/queries.ts';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The text of a look-up that is too long for a URL. */
    lookupText?: string;
  }
}

/** Texts up to this length, in characters of a URL, are part of the URL of the page and can be shared by it. */
const MAX_SHARED = 6_000;
const NAME = 'text=';

/** Returns the query options of a look-up. */
export const lookupOptions = (text: string) => apiQueryOptions('POST /app/lookup', { body: { text } });

/**
 * Returns a function that opens the page with the results of a text. The text is behind the # of the URL, which browsers
 * do not send: no log of a server or proxy has it.
 */
export function useOpenLookup() {
  const navigate = useNavigate();
  const client = useQueryClient();
  return (text: string) => {
    // The page keeps the results of a text until it is looked up again.
    void client.invalidateQueries(lookupOptions(text));
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
