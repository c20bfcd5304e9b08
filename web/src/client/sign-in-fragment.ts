/** The name under which the session storage of the tab has the page, while the pages of a provider are open. */
const KEY = 'tipline-sign-in';

/** Stores the fragment of the sign-in page for the page to return to: a sign-in with a provider returns without it. */
export function storeFragment(to: string): void {
  if (window.location.hash) sessionStorage.setItem(KEY, to + window.location.hash);
}

/** Adds the stored fragment to the URL of the page to which a sign-in with a provider has returned. */
export function restoreFragment(): void {
  const stored = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const { pathname, search, hash } = window.location;
  if (!hash && stored?.startsWith(`${pathname}${search}#`))
    window.history.replaceState(window.history.state, '', stored);
}
