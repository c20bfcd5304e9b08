import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { SigmaSubject } from '../formats/sigma.ts';

type Kind = SigmaSubject['kind'];

/** Returns the actor or campaign if the principal may see it. */
export async function findSubject(
  db: Db,
  principal: Principal,
  kind: Kind,
  id: string,
): Promise<(SigmaSubject & { createdAt: Date }) | undefined> {
  const attackId = kind === 'actor' ? sql`attack_group_id` : sql`null`;
  const { rows } = await sql<SigmaSubject & { createdAt: Date }>`
    select ${kind} as kind, id, name, ${attackId} as "attackId", created_at as "createdAt"
    from ${sql.table(kind)} where id = ${id} and ${visible(kind, principal)}
  `.execute(db);
  return rows[0];
}

/** Returns the ATT&CK ids of the techniques that an actor or campaign uses, sorted. */
export async function readTechniqueIds(db: Db, principal: Principal, id: string): Promise<string[]> {
  const { rows } = await sql<{ attack_id: string }>`
    select distinct technique.attack_id from technique
    join relationship as r on r.to_id = technique.id and r.to_kind = 'technique'
    where r.from_id = ${id} and r.type = 'uses' and technique.attack_id is not null and not technique.retired
      and ${visible('relationship', principal, 'r')} and ${visible('technique', principal)}
    order by technique.attack_id
  `.execute(db);
  return rows.map(({ attack_id }) => attack_id);
}
