import { visibleText } from '../model/visible-text.ts';

/**
 * Returns the message about a response that redirects, for requests that follow none: the other address would get what they send.
 * @param url as the user gave it
 * @returns null for any other response
 */
export function redirectProblem(url: string, { status, headers }: Response): string | null {
  const target = headers.get('location');
  if (status < 300 || status >= 400 || target === null) return null;
  return `${url} redirects to ${visibleText(target)}. Redirects are not followed: give the address of the server itself.`;
}
