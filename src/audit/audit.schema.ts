import { Type } from 'typebox';
import { moment, operation } from '../http/operation.ts';
import { dateTime, nullable, pageParameters } from '../http/schema.ts';

const Entry = Type.Object({
  id: Type.Integer(),
  at: moment,
  who: Type.String(),
  /** null: on the machine itself. */
  address: nullable(Type.String()),
  action: Type.String(),
  objectKind: Type.String(),
  objectId: Type.String(),
  /** JSON; what it holds depends on the action. */
  before: Type.Unknown(),
  after: Type.Unknown(),
  reason: nullable(Type.String()),
});

const filters = {
  /** A part of who did it. */
  who: Type.Optional(Type.String({ maxLength: 254 })),
  /** An action, or what stands before its dot. */
  action: Type.Optional(Type.String({ maxLength: 50 })),
  objectId: Type.Optional(Type.String({ maxLength: 100 })),
  since: Type.Optional(dateTime()),
  until: Type.Optional(dateTime()),
};

/** The latest first. */
export const listAudit = operation('GET /app/audit', {
  query: Type.Object({ ...filters, ...pageParameters(50, 500) }, { additionalProperties: false }),
  answer: Type.Object({
    data: Type.Array(Entry),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
  }),
});

/** All that the filters let through, as CSV with formulas guarded. */
export const exportAudit = operation('GET /app/audit.csv', {
  query: Type.Object(filters, { additionalProperties: false }),
  answer: Type.String(),
});

/** What was done to one indicator. */
export const listHistory = operation('GET /app/indicators/:id/history', {
  answer: Type.Object({ data: Type.Array(Entry) }),
});
