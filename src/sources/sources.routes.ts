import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { listFeeds } from '../feeds/feeds.queries.ts';
import { requireFullVisibility } from '../http/admit.ts';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/routes.ts';
import { findSources, findStoredSource, makeDue } from './feeds.queries.ts';
import { previewRemoval, runPendingRemovals, startRemoval } from './remove-source.ts';
import type { StoredSource } from './source-settings.ts';
import { fetchSource, listSources, previewSourceRemoval, removeSource } from './sources.schema.ts';
import { SourceError } from './sources.service.ts';

interface Deps {
  db: Db;
  clock: Clock;
  by(request: FastifyRequest): AuditActor;
}

export async function sourceRoutes(instance: FastifyInstance, { db, clock, by }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const stopping = new AbortController();
  const removing = new Set<Promise<void>>();
  app.addHook('onClose', async () => {
    stopping.abort();
    await Promise.all(removing);
  });

  app.route({
    ...routeOf(listSources, 'viewer'),
    handler: async ({ principal }) => {
      const visibleFeeds = new Set((await listFeeds(db, principal.tlpCeiling)).map(({ slug }) => slug));
      return {
        // The address of a feed may contain a key, so it is not returned.
        data: (await findSources(db)).map(({ address, health, ...source }) => ({
          ...source,
          isFetched: address !== '',
          health: { ...health, lastCounts: withFeeds(visibleFeeds, health.lastCounts) },
        })),
      };
    },
  });

  app.route({
    ...routeOf(fetchSource, 'administrator'),
    handler: async (request) => {
      const [id, who] = [idOf(request), by(request)];
      await db.transaction().execute(async (trx) => {
        if (!(await makeDue(trx, id, who.now)))
          throw new ApiError('conflict', 'This source is disabled or has no address to fetch.');
        const entry = { before: null, after: null, reason: null };
        await writeAudit(trx, who, { action: 'source.fetch', object: { kind: 'source', id }, ...entry });
      });
      return { done: true as const };
    },
  });

  app.route({
    ...routeOf(previewSourceRemoval, 'administrator'),
    handler: async (request) => {
      requireFullVisibility(request);
      return { data: await previewRemoval(db, await found(idOf(request)), clock()) };
    },
  });

  app.route({
    ...routeOf(removeSource, 'administrator'),
    handler: async (request) => {
      requireFullVisibility(request);
      await startRemoval(db, await found(idOf(request)), by(request)).catch(asApiError);
      const stopped = () => stopping.signal.aborted;
      // A worker continues a removal that this process does not complete.
      const work = runPendingRemovals(db, { now: clock, stopped }).catch((err: unknown) =>
        request.log.error({ err }, 'removing a source'),
      );
      removing.add(work);
      void work.finally(() => removing.delete(work));
      return { done: true as const };
    },
  });

  async function found(id: string) {
    const source = await findStoredSource(db, id);
    if (!source) throw new ApiError('not_found', 'There is no such source.');
    return source;
  }
}

/** Returns counts without the slugs of feeds above the TLP ceiling of the account. */
function withFeeds(visible: ReadonlySet<string>, counts: StoredSource['health']['lastCounts']) {
  return (
    counts && {
      ...counts,
      heldBackFeeds: (counts.heldBackFeeds ?? []).filter((slug) => visible.has(slug)),
    }
  );
}

function asApiError(error: unknown): never {
  throw error instanceof SourceError ? new ApiError('conflict', `${error.message}.`) : error;
}
