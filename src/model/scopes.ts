/** The scopes of API keys. */
export const SCOPES = ['indicators:read', 'actors:read', 'campaigns:read'] as const;
export type Scope = (typeof SCOPES)[number];
