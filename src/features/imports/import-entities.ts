import type { Db } from '../../db/open.ts';
import { commitRevision, lockRevision } from '../../db/revision.ts';
import { uuidv5 } from '../../model/identity.ts';
import { slugOf } from '../../model/slug.ts';
import { type EntityWrite, loadEntities, writeEntities } from './entities.queries.ts';
import { newDirectory } from './entity-directory.ts';
import { ENTITY_RULES, type EntityKindRules, type EntityRecord, type EntityState } from './entity-kinds.ts';
import { type ExternalIdWrite, resolveExternalIds, writeExternalIds } from './external-ids.queries.ts';
import { mergeEntities, sameEntity, withAliasesInOrder } from './merge-entities.ts';
import type { Source } from './sources.queries.ts';
import type { Tally } from './tally.ts';

/** For objects whose external ids hold no UUID. */
const ENTITY_NAMESPACE = 'b4c1d3a8-6e0f-4f0e-8d5b-0a6c0b7e2f19';

interface Plan {
  writes: Map<string, EntityWrite>;
  externalIds: ExternalIdWrite[];
  outcomes: ('new' | 'updated' | 'unchanged')[];
}

/** Imports records of one kind, as `importIndicators` does: without a lock first, and again under it to write. */
export async function importEntities(
  db: Db,
  source: Source,
  kind: EntityRecord['kind'],
  records: readonly EntityRecord[],
  now: Date,
  tally: Tally,
  dryRun: boolean,
): Promise<void> {
  const rules = ENTITY_RULES[kind];
  let plan = await planEntities(db, rules, source, records);
  if (!dryRun && plan.writes.size + plan.externalIds.length > 0) {
    await db.transaction().execute(async (trx) => {
      const lock = await lockRevision(trx);
      plan = await planEntities(trx, rules, source, records);
      if (plan.writes.size + plan.externalIds.length === 0) return;
      await writeEntities(trx, rules, [...plan.writes.values()], lock.next, now);
      await writeExternalIds(trx, plan.externalIds);
      await commitRevision(trx, lock);
    });
  }
  for (const outcome of plan.outcomes) tally.count(kind, outcome);
}

async function planEntities(
  db: Db,
  rules: EntityKindRules,
  source: Source,
  records: readonly EntityRecord[],
): Promise<Plan> {
  const resolved = await resolveExternalIds(
    db,
    records.flatMap(({ externalIds }) => externalIds),
  );
  const stated = records.map((record) => ({ record, said: stateOf(record, rules, source) }));
  const ofKind = [...resolved.values()].flat().filter(({ kind }) => kind === rules.table);
  const meant = [...ofKind, ...stated.map(({ said }) => said)].map(({ id }) => id);
  const stored = await loadEntities(db, rules, rules.table === 'report' ? meant : 'all');
  const directory = newDirectory(rules, stored);
  for (const [externalId, refs] of resolved) {
    for (const { id, kind } of refs) if (kind === rules.table) directory.alias(externalId, id);
  }
  const plan: Plan = { writes: new Map(), externalIds: [], outcomes: [] };
  for (const { record, said } of stated) {
    const before = directory.find(record.externalIds, said);
    const after = before ? mergeEntities(before, said) : said;
    const newIds = record.externalIds.filter((externalId) => !directory.knows(externalId, after.id));
    for (const externalId of newIds) {
      directory.alias(externalId, after.id);
      plan.externalIds.push({ externalId, id: after.id, kind: rules.table });
    }
    if (before && sameEntity(before, after) && newIds.length === 0) {
      plan.outcomes.push('unchanged');
      continue;
    }
    directory.put(after);
    const write = plan.writes.get(after.id);
    plan.writes.set(after.id, { state: after, isNew: !before || (write?.isNew ?? false) });
    plan.outcomes.push(before ? 'updated' : 'new');
  }
  return plan;
}

function stateOf(record: EntityRecord, rules: EntityKindRules, source: Source): EntityState {
  const name = slugOf(rules.name(record));
  const [first = `${rules.table}--${name}`] = record.externalIds;
  // An object that has a UUID keeps it: ATT&CK's ids are what others know its groups by.
  const own = first.match(/--([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/)?.[1];
  return {
    id: own ?? uuidv5(`${rules.table}:${first}`, ENTITY_NAMESPACE),
    sourceId: source.id,
    statedAt: record.statedAt,
    tlp: record.tlp ?? source.defaults.tlp,
    confidence: record.confidence ?? source.defaults.confidence,
    columns: withAliasesInOrder(rules.columnsOf(record)),
  };
}
