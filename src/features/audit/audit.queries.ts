import type { Transaction } from 'kysely';
import type { Tables } from '../../db/tables.ts';

export interface AuditEntry {
  at: Date;
  /** Who changed it: an account, or the user of the machine who ran a command. */
  who: string;
  action: AuditAction;
  object: { kind: 'indicator' | 'campaign' | 'source' | 'whitelist' | 'provider'; id: string };
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
  | 'provider.change';

/** Writes down a change, in the transaction that makes it. Secrets have no place in `before` and `after`. */
export async function writeAudit(trx: Transaction<Tables>, entry: AuditEntry): Promise<void> {
  await trx
    .insertInto('audit')
    .values({
      at: entry.at,
      who: entry.who,
      action: entry.action,
      object_kind: entry.object.kind,
      object_id: entry.object.id,
      before: entry.before === null ? null : JSON.stringify(entry.before),
      after: entry.after === null ? null : JSON.stringify(entry.after),
      reason: entry.reason,
    })
    .execute();
}
