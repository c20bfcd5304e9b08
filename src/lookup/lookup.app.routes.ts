import { setImmediate } from 'node:timers/promises';
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
import { readValue, visitText } from './candidates.ts';
import { lookUpText, MAX_TEXT } from './lookup.app.schema.ts';
import { MAX_BULK_VALUES } from './lookup.schema.ts';
import { type LookedUp, type LookupSource, lookUp } from './lookup.service.ts';
import { confidenceOf } from './result.ts';
import { type TextValue, textValues } from './text-values.ts';

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
      const { asked, omitted } = withinLimit(await textValues(request.body.text));
      const showsHidden = hasRole(account.role, 'analyst');
      const data: ReturnType<typeof toResult>[] = [];
      for (let start = 0; start < asked.length; start += BATCH) {
        const batch = asked.slice(start, start + BATCH);
        const texts = batch.map((value) => value.asked);
        const results = await lookUp(source, principal, texts, { related: true });
        const hidden = showsHidden ? await hiddenAmong(db, principal, results) : NOTHING_HIDDEN;
        const found = results.map((result) => toResult(result, hidden.get(result.asked) ?? null));
        await setImmediate();
        data.push(...found.filter(({ state }, index) => state !== 'unknown' || !batch[index]?.isLine));
      }
      return { data, omitted };
    },
  });
}

const NOTHING_HIDDEN: ReadonlyMap<string, HiddenIndicator> = new Map();

/** Returns the first values, in their order, and how many others there are. Whole lines do not count among them. */
function withinLimit(values: readonly TextValue[]): { asked: TextValue[]; omitted: number } {
  const counts = { values: 0, lines: 0 };
  const asked = values.filter(({ isLine }) => ++counts[isLine ? 'lines' : 'values'] <= MAX_BULK_VALUES);
  return { asked, omitted: Math.max(0, counts.values - MAX_BULK_VALUES) };
}

/** Returns the hidden indicators of values that are not known by themselves, by the values as they were asked for. */
async function hiddenAmong(
  db: Db,
  principal: Principal,
  results: readonly LookedUp[],
): Promise<Map<string, HiddenIndicator>> {
  const askedById = new Map<string, string>();
  for (const result of results)
    if (!isExact(result)) for (const id of idsOf(result.asked)) askedById.set(id, result.asked);
  const found = await findHidden(db, principal, [...askedById.keys()]);
  const rows = new Map(found.map((row) => [row.id, row]));
  const hidden = new Map<string, HiddenIndicator>();
  // Of several, that of the type as which the value was read, whose id comes first.
  for (const [id, asked] of askedById) {
    const row = rows.get(id);
    if (row && !hidden.has(asked)) hidden.set(asked, row);
  }
  return hidden;
}

/** Whether a value is known as what it was read. */
const isExact = ({ read, matches }: LookedUp) =>
  matches.some(
    ({ relation, indicator }) => relation === 'exact' && (!('type' in read) || indicator.type === read.type),
  );

/** Returns the ids of the indicators that a text can be. */
function idsOf(text: string): string[] {
  const ids: string[] = [];
  visitText(text, readValue(text), null, (_, type, normalized) => {
    ids.push(indicatorId(type, normalized));
    return true;
  });
  return ids;
}

function toResult({ asked, read, matches }: LookedUp, hidden: HiddenIndicator | null) {
  const { type, value } = hidden ?? ('type' in read ? read : { type: null, value: asked });
  const shown = matches.map(({ relation, indicator }) => ({
    relation,
    indicator: { ...toIndicator(indicator), defanged: defang(indicator.type, indicator.value) },
  }));
  const confidence = confidenceOf(shown.map(({ indicator }) => indicator));
  return {
    asked,
    type,
    value,
    defanged: type === null ? value : defang(type, value),
    state: matches.length > 0 ? ('known' as const) : hidden ? ('hidden' as const) : ('unknown' as const),
    verdict: verdictOf(confidence),
    confidence,
    matches: shown,
    hidden: hidden && {
      id: hidden.id,
      whitelisted: hidden.whitelisted,
      entry: hidden.entry,
      list: hidden.list,
      expiresAt: hidden.expiresAt,
    },
  };
}
