import type { Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/** Who does something, from where (null: on the machine itself), and when. */
export interface By {
  who: string;
  address: string | null;
  now: Date;
}

export interface AuditEntry {
  at: Date;
  /** Who changed it: an account, or the user of the machine who ran a command. */
  who: string;
  /** Where it came from; null or left out: a command, on the machine itself. */
  address?: string | null;
  action: AuditAction;
  object: {
    kind: 'indicator' | 'campaign' | 'source' | 'whitelist' | 'provider' | 'user' | 'key';
    id: string;
  };
  before: unknown;
  after: unknown;
  reason: string | null;
}

export type AuditAction =
  | 'confidence.pin'
  | 'confidence.change'
  | 'confidence.unpin'
  | 'campaign.status'
  | 'whitelist.add'
  | 'whitelist.remove'
  | 'whitelist.load'
  | 'whitelist.enable'
  | 'whitelist.disable'
  | 'source.add'
  | 'source.change'
  | 'provider.change'
  | 'user.create'
  | 'user.change'
  | 'session.create'
  | 'session.refuse'
  | 'session.end'
  | 'key.create'
  | 'key.rotate'
  | 'key.revoke';

/** Writes down a change, in the transaction that makes it. Secrets have no place in `before` and `after`. */
export async function writeAudit(trx: Transaction<Tables>, entry: AuditEntry): Promise<void> {
  await trx
    .insertInto('audit')
    .values({
      at: entry.at,
      who: entry.who,
      address: entry.address ?? null,
      action: entry.action,
      object_kind: entry.object.kind,
      object_id: entry.object.id,
      before: entry.before === null ? null : JSON.stringify(entry.before),
      after: entry.after === null ? null : JSON.stringify(entry.after),
      reason: entry.reason,
    })
    .execute();
}
