import type { ChangeFeed } from '../changes/change-feed.ts';
import type { Read } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import type { AccessTracker } from '../enrichment/access-tracker.ts';
import type { SnapshotSource } from '../exports/snapshot.ts';
import type { Applicant, Slots } from '../http/slots.ts';
import type { LookupSource } from '../lookup/lookup.service.ts';
import type { Scope } from '../model/account.ts';
import type { CommunityRules } from '../sigma/community-rules.ts';

/** What tools, resources and prompts read from. */
export interface McpData {
  database: SnapshotSource & { read: Read };
  listed: LookupSource['listed'];
  feed: ChangeFeed;
  communityRules: Promise<CommunityRules | null>;
  /** In which rules are read and written. */
  reading: Slots;
  interest: Pick<AccessTracker, 'record'>;
}

/** Who makes a request, and what it may see. */
export interface Caller {
  /** The scopes of the key; empty: all. */
  scopes: readonly Scope[];
  principal: Principal;
  /** Who waits for the slots of `data`. */
  applicant: Applicant;
  data: McpData;
  /** Returns the message that the client gets for an error of the server, which is logged. */
  reportError(error: Error): string;
}

/** Returns whether the key has all of these scopes. */
export const may = ({ scopes }: Pick<Caller, 'scopes'>, needed: readonly Scope[]): boolean =>
  scopes.length === 0 || needed.every((scope) => scopes.includes(scope));

/** Thrown for what the client did wrong, such as a name that nothing has. The message is for its model. */
export class McpInputError extends Error {
  override name = 'McpInputError';
}

/** @throws {McpInputError} naming the scopes that the key lacks */
export function requireScopes(caller: Pick<Caller, 'scopes'>, needed: readonly Scope[], what: string): void {
  const missing = needed.filter((scope) => !may(caller, [scope]));
  if (missing.length > 0)
    throw new McpInputError(`${what} needs the scope ${missing.join(' and ')}, which the API key lacks.`);
}
