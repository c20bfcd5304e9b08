/**
 * Returns the path if it is a page of this site, else `/`, so that a link from another site cannot redirect
 * elsewhere: browsers drop tabs and line ends from it.
 */
export function sameSitePath(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(to) ? to : '/';
}
