import { refreshSession } from '../client/queries.ts';

/**
 * Returns the props of a link that downloads. A page does not hear of a failed download: where the session has ended,
 * refreshing it opens the sign-in page.
 */
export const downloadLink = (href: string) => ({
  component: 'a' as const,
  href,
  download: true,
  onClick: refreshSession,
});
