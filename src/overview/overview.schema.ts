import { type Static, Type } from 'typebox';
import { instant, operation } from '../http/routes.ts';
import { stringEnum } from '../http/schema.ts';
import { INDICATOR_TYPES, SEVERITIES } from '../model/vocabulary.ts';

const count = Type.Integer();

export const readOverview = operation('GET /app/overview', {
  answer: Type.Object({
    /** The time of the snapshot that the overview describes. */
    asOf: instant,
    indicators: count,
    actors: count,
    campaigns: count,
    /** Indicators created in the 24 hours before `asOf`. */
    created: Type.Object({
      since: instant,
      total: count,
      byType: Type.Array(Type.Object({ type: stringEnum(INDICATOR_TYPES), count })),
      bySeverity: Type.Array(Type.Object({ severity: stringEnum(SEVERITIES), count })),
      tags: Type.Array(Type.Object({ tag: Type.String(), count })),
    }),
    /** Indicators that expire in the seven days after `asOf`, and the first few of them. */
    expiring: Type.Object({
      until: instant,
      total: count,
      first: Type.Array(
        Type.Object({
          id: Type.String(),
          type: stringEnum(INDICATOR_TYPES),
          defanged: Type.String(),
          expiresAt: instant,
        }),
      ),
    }),
  }),
});
export type Overview = Static<typeof readOverview.answer>;
