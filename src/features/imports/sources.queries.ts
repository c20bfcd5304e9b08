import type { Db } from '../../db/open.ts';
import { uuidv5 } from '../../model/identity.ts';
import type { SourceDefaults } from '../../model/statement.ts';

/** Source ids follow from their names, so that they are the same wherever a source is imported. */
const SOURCE_NAMESPACE = '6f0f5d0e-6c0b-4c55-9d3b-4f1f6b6a0c3e';

export interface Source {
  id: string;
  name: string;
  defaults: SourceDefaults;
}

/** The source of that name; made with the defaults when there is none. Given defaults are kept as they stand. */
export async function ensureSource(
  db: Db,
  name: string,
  kind: string,
  defaults: SourceDefaults,
  now: Date,
): Promise<Source> {
  await db
    .insertInto('source')
    .values({
      id: uuidv5(name, SOURCE_NAMESPACE),
      name,
      kind,
      default_tlp: defaults.tlp,
      default_confidence: defaults.confidence,
      default_severity: defaults.severity,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return (await findSource(db, name)) ?? { id: '', name, defaults };
}

export async function findSource(db: Db, name: string): Promise<Source | undefined> {
  const row = await db.selectFrom('source').selectAll().where('name', '=', name).executeTakeFirst();
  return (
    row && {
      id: row.id,
      name: row.name,
      defaults: { tlp: row.default_tlp, confidence: row.default_confidence, severity: row.default_severity },
    }
  );
}
