/** Whether this is a page of ours, and not where a link from elsewhere leads: browsers drop tabs and line ends from it. */
export function isOwnPath(to: string): boolean {
  return /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(to);
}
