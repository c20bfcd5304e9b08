import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** A response, identified by its request and caller; equal digests stand for equal responses. */
export interface Answer {
  question: string;
  digest: string;
}

/** Without requests for so long, the state of a response is deleted: the next response counts as changed. */
const KEPT_DAYS = 90;

/**
 * Returns since when each response has been what it is now: in whole seconds, increasing with each change,
 * the same on every node. Only a changed response is written, or one that was last recorded over a day ago.
 */
export async function recordResponseVersion(
  db: Db,
  answers: readonly Answer[],
  now: Date,
): Promise<Map<string, Date>> {
  const questions = answers.map(({ question }) => question);
  const { rows: known } = await sql<{ question: string; digest: string; changed_at: Date }>`
    select question, digest, changed_at from answer_state
    where question = any(${questions}::text[]) and asked_at > ${now}::timestamptz - interval '1 day'
  `.execute(db);
  const since = new Map(known.map((row) => [row.question, row]));
  const others = answers.filter(({ question, digest }) => since.get(question)?.digest !== digest);
  const changed = others.length > 0 ? await writeAnswers(db, others, now) : [];
  return new Map([...known, ...changed].map((row) => [row.question, row.changed_at]));
}

async function writeAnswers(db: Db, answers: readonly Answer[], now: Date) {
  await sql`delete from answer_state where asked_at < ${now}::timestamptz - make_interval(days => ${KEPT_DAYS})`.execute(
    db,
  );
  const { rows } = await sql<{ question: string; changed_at: Date }>`
    insert into answer_state as before (question, digest, changed_at, asked_at)
    select question, digest, date_trunc('second', ${now}::timestamptz), ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(answers)}::jsonb) as x (question text, digest text)
    order by question
    on conflict (question) do update set digest = excluded.digest, asked_at = excluded.asked_at,
      changed_at = case when before.digest = excluded.digest then before.changed_at
        else greatest(excluded.changed_at, before.changed_at + interval '1 second') end
    returning question, changed_at
  `.execute(db);
  return rows;
}
