/** A page of ours, and not where a link from elsewhere leads, else `/`: browsers drop tabs and line ends from it. */
export function ownPath(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(to) ? to : '/';
}
