import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../db/database.ts';
import { inSnapshot } from '../db/database.ts';
import { isSameRevision, type RevisionId, readRevisionId } from '../db/revision/revision.ts';
import type { Principal } from '../db/visibility.ts';
import { routeOf } from '../http/routes.ts';
import { defang } from '../model/refang.ts';
import type { Tlp } from '../model/vocabulary.ts';
import * as queries from './overview.queries.ts';
import { type Overview, readOverview } from './overview.schema.ts';

const HOUR_MS = 3_600_000;
/**
 * How long an overview is cached while the revision stays the same: counting new indicators is expensive, and
 * the overview is every user's start page.
 */
const CACHE_TTL_MS = 30_000;
const MAX_ITEMS = 8;

export async function overviewRoutes(instance: FastifyInstance, { db }: { db: Db }): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const cache = new Map<Tlp, { from: Date; revisionId: RevisionId; overview: Promise<Overview> }>();

  app.route({
    ...routeOf(readOverview, 'viewer'),
    handler: async ({ principal }) => {
      const { tlpCeiling, now } = principal;
      const known = cache.get(tlpCeiling);
      const revisionId = await readRevisionId(db);
      const age = known ? now.getTime() - known.from.getTime() : -1;
      if (known && isSameRevision(known.revisionId, revisionId) && age >= 0 && age < CACHE_TTL_MS)
        return stillThere(await known.overview, now);
      const overview = inSnapshot(db, (snapshot) => computeOverview(snapshot, principal));
      cache.set(tlpCeiling, { from: now, revisionId, overview });
      overview.catch(() => cache.delete(tlpCeiling));
      return overview;
    },
  });
}

/** Removes indicators that have expired since the overview was cached. */
function stillThere({ expiring, ...overview }: Overview, now: Date): Overview {
  return {
    ...overview,
    expiring: { ...expiring, first: expiring.first.filter(({ expiresAt }) => expiresAt > now) },
  };
}

async function computeOverview(db: Db, principal: Principal): Promise<Overview> {
  const since = new Date(principal.now.getTime() - 24 * HOUR_MS);
  const created = await queries.countCreated(db, principal, since);
  const until = new Date(principal.now.getTime() + 7 * 24 * HOUR_MS);
  const expiring = await queries.findExpiring(db, principal, until, MAX_ITEMS);
  return {
    asOf: principal.now,
    ...(await queries.countAll(db, principal)),
    created: {
      since,
      total: created.reduce((sum, { count }) => sum + count, 0),
      byType: countsBy(created, 'type').map(([type, count]) => ({ type, count })),
      bySeverity: countsBy(created, 'severity').map(([severity, count]) => ({ severity, count })),
      tags: await queries.topTags(db, principal, since, MAX_ITEMS),
    },
    expiring: {
      until,
      total: expiring.total,
      first: expiring.first.map(({ value, ...indicator }) => ({
        ...indicator,
        defanged: defang(indicator.type, value),
      })),
    },
  };
}

/** Returns the counts by a column's value, the largest first. */
function countsBy<Name extends 'type' | 'severity'>(rows: queries.Created[], name: Name) {
  const sums = new Map<queries.Created[Name], number>();
  for (const row of rows) sums.set(row[name], (sums.get(row[name]) ?? 0) + row.count);
  return [...sums].sort(([, a], [, b]) => b - a);
}
