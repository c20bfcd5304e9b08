import { Type } from 'typebox';
import { instant, operation } from '../http/routes.ts';
import { dateTime, nullable, pageParameters } from '../http/schema.ts';

/** Actions of audit entries: the kind of the change, and the change. */
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
  | 'import.start'
  | 'import.end'
  | 'import.stop'
  | 'import.undo'
  | 'indicator.enrich'
  | 'source.add'
  | 'source.change'
  | 'source.fetch'
  | 'source.remove'
  | 'provider.change'
  | 'user.create'
  | 'user.change'
  | 'role.change'
  | 'session.create'
  | 'session.refuse'
  | 'session.end'
  | 'feed.create'
  | 'feed.change'
  | 'feed.remove'
  | 'feed.webhook'
  | 'key.create'
  | 'key.rotate'
  | 'key.revoke'
  | 'store.backup'
  | 'store.restore'
  | 'store.move';

const Entry = Type.Object({
  id: Type.Integer(),
  at: instant,
  who: Type.String(),
  /** null: a command on the host itself. */
  address: nullable(Type.String()),
  action: Type.String(),
  objectKind: Type.String(),
  objectId: Type.String(),
  /** JSON; its content depends on the action. */
  before: Type.Unknown(),
  after: Type.Unknown(),
  reason: nullable(Type.String()),
});

const filters = {
  /** A part of the actor's name. */
  who: Type.Optional(Type.String({ maxLength: 254 })),
  /** An action, or the part before its dot. */
  action: Type.Optional(Type.String({ maxLength: 50 })),
  objectId: Type.Optional(Type.String({ maxLength: 100 })),
  since: Type.Optional(dateTime()),
  until: Type.Optional(dateTime()),
};

/** Lists audit entries, the latest first. */
export const listAudit = operation('GET /app/audit', {
  query: Type.Object({ ...filters, ...pageParameters(50, 500) }, { additionalProperties: false }),
  answer: Type.Object({
    data: Type.Array(Entry),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
  }),
});

/** Exports all matching entries as CSV, guarded against formulas. */
export const exportAudit = operation('GET /app/audit.csv', {
  query: Type.Object(filters, { additionalProperties: false }),
  answer: Type.String(),
});

/** Lists the changes of one indicator. */
export const listHistory = operation('GET /app/indicators/:id/history', {
  answer: Type.Object({ data: Type.Array(Entry) }),
});
