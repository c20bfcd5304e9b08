import type { Db } from '../../db/open.ts';
import { commitRevision, lockRevision } from '../../db/revision.ts';
import type { RelationshipRecord } from '../../importers/importer.ts';
import { compareTlp, mostRestrictive } from '../../model/statement.ts';
import type { EntityKind, RelationshipType, Tlp } from '../../model/vocabulary.ts';
import { type EntityRef, resolveExternalIds } from './external-ids.queries.ts';
import { type Guard, unguarded } from './guard.ts';
import {
  loadRelationships,
  type Relationship,
  relationshipKey,
  writeRelationships,
} from './relationships.queries.ts';
import type { Source } from './sources.queries.ts';
import type { Tally } from './tally.ts';

/** Which kinds a relationship may join (STIX 2.1 appendix B, as far as the API shows it). */
const JOINS: Record<RelationshipType, { from: readonly EntityKind[]; to: readonly EntityKind[] }> = {
  indicates: { from: ['indicator'], to: ['actor', 'campaign', 'software', 'technique'] },
  'attributed-to': { from: ['campaign'], to: ['actor'] },
  uses: { from: ['actor', 'campaign', 'software'], to: ['technique', 'software'] },
  'refers-to': {
    from: ['report'],
    to: ['indicator', 'actor', 'campaign', 'technique', 'software', 'report'],
  },
};

const NOT_KEPT = 'a relationship that joins other kinds';

interface Plan {
  writes: Map<string, Relationship>;
  outcomes: ('new' | 'updated' | 'unchanged')[];
}

/**
 * Joins what both ends of are known, up to `seesUpTo`.
 * @returns the records with an end that is not known (yet)
 */
export async function importRelationships(
  db: Db,
  source: Source,
  records: readonly RelationshipRecord[],
  tally: Tally,
  guard: Guard = unguarded,
  seesUpTo: Tlp = 'RED',
): Promise<RelationshipRecord[]> {
  if (records.length === 0) return [];
  const ends = await resolveExternalIds(
    db,
    records.flatMap(({ from, to }) => [from, to]),
    seesUpTo,
  );
  const waiting: RelationshipRecord[] = [];
  const wanted: Relationship[] = [];
  for (const record of records) {
    const [from, to] = [ends.get(record.from), ends.get(record.to)];
    if (!from || !to) {
      waiting.push(record);
      continue;
    }
    const joins = joinsOf(record, from, to, source);
    if (joins.length === 0)
      tally.reject('relationship', NOT_KEPT, `${record.from} ${record.type} ${record.to}`);
    wanted.push(...joins);
  }
  let plan = await planRelationships(db, wanted, seesUpTo);
  if (plan.writes.size > 0) {
    await db.transaction().execute(async (trx) => {
      const lock = await lockRevision(trx);
      await guard(trx);
      plan = await planRelationships(trx, wanted, seesUpTo);
      if (plan.writes.size === 0) return;
      await writeRelationships(trx, [...plan.writes.values()], lock.next);
      await commitRevision(trx, lock);
    });
  }
  for (const outcome of plan.outcomes) tally.count('relationship', outcome);
  return waiting;
}

function joinsOf(
  record: RelationshipRecord,
  from: readonly EntityRef[],
  to: readonly EntityRef[],
  source: Source,
): Relationship[] {
  const allowed = JOINS[record.type];
  return from.flatMap((near) =>
    to
      .filter(
        (far) => allowed.from.includes(near.kind) && allowed.to.includes(far.kind) && near.id !== far.id,
      )
      .map((far) => ({
        fromId: near.id,
        toId: far.id,
        type: record.type,
        fromKind: near.kind,
        toKind: far.kind,
        tlp: record.tlp ?? source.defaults.tlp,
        sourceId: source.id,
      })),
  );
}

/** What is known above `seesUpTo` counts as what is not there. */
async function planRelationships(db: Db, wanted: readonly Relationship[], seesUpTo: Tlp): Promise<Plan> {
  const known = await loadRelationships(db, wanted);
  const plan: Plan = { writes: new Map(), outcomes: [] };
  for (const said of wanted) {
    const key = relationshipKey(said);
    const before = known.get(key);
    // What a source has once said under a marking stays under it, or a more restrictive one.
    const after = before ? { ...before, tlp: mostRestrictive([before.tlp, said.tlp]) } : said;
    const isSeen = before !== undefined && compareTlp(before.tlp, seesUpTo) <= 0;
    if (before?.tlp === after.tlp) {
      plan.outcomes.push(isSeen ? 'unchanged' : 'new');
      continue;
    }
    known.set(key, after);
    plan.writes.set(key, after);
    plan.outcomes.push(isSeen ? 'updated' : 'new');
  }
  return plan;
}
