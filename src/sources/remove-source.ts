import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import { withRevision } from '../db/revision/revision.ts';
import { discardUndoData } from '../imports/changes.queries.ts';
import { isImporting } from '../imports/import-runs.queries.ts';
import {
  previewRestoration,
  type Restoration,
  type RestoreOptions,
  type RestorePreview,
  restore,
} from '../imports/restore.service.ts';
import { countStatedRelationships, findStatedIds, findStatedRelationships } from '../imports/undo.queries.ts';
import { deleteWithdrawals } from '../imports/withdrawals.queries.ts';
import { beginRemoval, endRemoval, unfinishedRemovals } from './feeds.queries.ts';
import type { StoredSource } from './source-settings.ts';
import { SourceError } from './sources.service.ts';
import { dropUnusedSource } from './store/sources.queries.ts';

/** Returns the changes that the removal of a source would make. */
export async function previewRemoval(
  db: Db,
  source: Pick<StoredSource, 'id' | 'name'>,
  now: Date,
): Promise<RestorePreview> {
  return previewRestoration(db, removing(source), now);
}

/** Returns the restoration that deletes all statements of a source. */
function removing(source: { id: string; name: string }): Restoration {
  const find: Restoration['find'] = async (db, ...walk) => {
    const ids = await findStatedIds(db, source.id, ...walk);
    return { changes: ids.map((id) => ({ id, before: null })), last: ids.at(-1), restated: 0 };
  };
  return {
    source,
    find,
    // The deleted statements are not found again.
    take: find,
    async countRelationships(db) {
      const count = await countStatedRelationships(db, source.id);
      return { changed: count, gone: count, restated: 0 };
    },
    async takeRelationships(trx, most) {
      const said = await findStatedRelationships(trx, source.id, most);
      return { changes: said.map((ends) => ({ ...ends, before: null })), any: said.length > 0 };
    },
  };
}

/**
 * Records that a source is to be removed, and ends its fetching; `carryOutRemovals` does the rest.
 * @throws {SourceError} while a file is being imported into it
 */
export async function startRemoval(db: Db, source: StoredSource, by: AuditActor): Promise<void> {
  await withRevision(db, async (trx, revision) => {
    if (await isImporting(trx, source.name))
      throw new SourceError(
        `a file is being imported into "${source.name}": wait for its end, or stop it; if its process has ended, try again in a minute`,
      );
    if (!(await beginRemoval(trx, source.id))) return;
    await discardUndoData(trx, source);
    await writeAudit(trx, by, {
      action: 'source.remove',
      object: { kind: 'source', id: source.id },
      before: { name: source.name, kind: source.kind, address: source.address },
      after: null,
      reason: null,
    });
    // Imports that are planned with the source must be planned again.
    revision.advance();
  });
}

/**
 * Withdraws the statements of removed sources. An interrupted removal continues where it stopped; several processes may
 * call this at the same time.
 */
export async function runPendingRemovals(db: Db, carryOut: RestoreOptions): Promise<void> {
  for (const source of await unfinishedRemovals(db)) {
    if (!(await restore(db, removing(source), carryOut))) return;
    await deleteWithdrawals(db, source.id, null);
    await endRemoval(db, source.id);
    await dropUnusedSource(db, source.id, null);
  }
}
