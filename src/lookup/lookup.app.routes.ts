import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { routeOf } from '../http/routes.ts';
import { findHidden, type HiddenIndicator } from '../indicators/details.queries.ts';
import { toIndicator } from '../indicators/indicators.mappers.ts';
import { hasRole } from '../model/account.ts';
import { verdictOf } from '../model/confidence.ts';
import { indicatorId } from '../model/identity.ts';
import { defang } from '../model/refang.ts';
import { readValue, visitAnyType } from './candidates.ts';
import { lookUpText, MAX_TEXT } from './lookup.app.schema.ts';
import { MAX_BULK_VALUES } from './lookup.schema.ts';
import { confidenceOf, type LookedUp, type LookupSource, lookUp } from './lookup.service.ts';
import { textValues } from './text-values.ts';

interface Deps {
  db: Db;
  listed: LookupSource['listed'];
}

/** Values whose candidates are read at once: other requests are served in between. */
const BATCH = 1_000;

/** The look-up of the application's pages. */
export async function lookupPageRoutes(instance: FastifyInstance, { db, listed }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const source: LookupSource = { listed, read: (work) => work(db, false) };

  app.route({
    ...routeOf(lookUpText, 'viewer'),
    bodyLimit: 4 * MAX_TEXT,
    handler: async (request) => {
      const { principal, account } = request;
      const values = await textValues(request.body.text);
      const asked = values.slice(0, MAX_BULK_VALUES);
      const results: LookedUp[] = [];
      for (let start = 0; start < asked.length; start += BATCH) {
        const batch = asked.slice(start, start + BATCH).map((value) => value.asked);
        results.push(...(await lookUp(source, principal, batch, { related: true })));
      }
      const hidden = hasRole(account.role, 'analyst') ? await hiddenAmong(db, principal, results) : new Map();
      const data = results
        .map((result) => toResult(result, hidden))
        .filter(({ state }, index) => state !== 'unknown' || !asked[index]?.isLine);
      return { data, omitted: values.length - asked.length };
    },
  });
}

/** Returns the hidden indicators of values that are not known by themselves, by their ids. */
async function hiddenAmong(db: Db, principal: Principal, results: readonly LookedUp[]) {
  const ids = results.flatMap((result) => (isExact(result) ? [] : idsOf(result.asked)));
  const found = new Map<string, HiddenIndicator>();
  for (let start = 0; start < ids.length; start += BATCH)
    for (const row of await findHidden(db, principal, ids.slice(start, start + BATCH)))
      found.set(row.id, row);
  return found;
}

const isExact = ({ matches }: LookedUp) => matches.some(({ relation }) => relation === 'exact');

/** Returns the ids of the indicators that a text can be. */
function idsOf(text: string): string[] {
  const read = readValue(text);
  if ('type' in read) return [indicatorId(read.type, read.normalized)];
  const ids: string[] = [];
  visitAnyType(text, (_, type, normalized) => ids.push(indicatorId(type, normalized)));
  return ids;
}

function toResult(result: LookedUp, hiddenById: ReadonlyMap<string, HiddenIndicator>) {
  const { asked, read, matches } = result;
  const hidden = isExact(result)
    ? null
    : (idsOf(asked)
        .map((id) => hiddenById.get(id))
        .find((one) => one !== undefined) ?? null);
  const { type, value } = hidden ?? ('type' in read ? read : { type: null, value: asked });
  const confidence = confidenceOf(matches);
  return {
    asked,
    type,
    value,
    defanged: type === null ? value : defang(type, value),
    state: matches.length > 0 ? ('known' as const) : hidden ? ('hidden' as const) : ('unknown' as const),
    verdict: verdictOf(confidence),
    confidence,
    matches: matches.map(({ relation, indicator }) => ({
      relation,
      indicator: { ...toIndicator(indicator), defanged: defang(indicator.type, indicator.value) },
    })),
    hidden: hidden && {
      id: hidden.id,
      whitelisted: hidden.whitelisted,
      entry: hidden.entry,
      list: hidden.list,
      expiresAt: hidden.expiresAt,
    },
  };
}
