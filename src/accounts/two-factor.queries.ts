import { sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';

/** Stores an unconfirmed second factor, replacing one that was never confirmed. */
export async function writeTwoFactor(
  trx: Transaction<Tables>,
  userId: string,
  { secret, backupCodeHashes }: { secret: string; backupCodeHashes: readonly string[] },
): Promise<void> {
  const values = { secret, backup_code_hashes: [...backupCodeHashes] };
  await trx
    .insertInto('app_two_factor')
    .values({ user_id: userId, ...values })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet(values).where('app_two_factor.confirmed_at', 'is', null),
    )
    .execute();
}

/** Returns the encrypted secret of a confirmed, or of an unconfirmed second factor; undefined: there is none. */
export async function findTwoFactorSecret(
  db: Db,
  userId: string,
  isConfirmed: boolean,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('app_two_factor')
    .select('secret')
    .where('user_id', '=', userId)
    .where('confirmed_at', isConfirmed ? 'is not' : 'is', null)
    .executeTakeFirst();
  return row?.secret;
}

/**
 * Records that the code of a period is used, whether it confirms the factor or signs in: neither it nor an
 * earlier one is accepted again, on any node.
 * @returns false when this code or a later one was used before
 */
export async function takePeriod(trx: Transaction<Tables>, userId: string, period: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('app_two_factor')
    .set({ last_period: period })
    .where('user_id', '=', userId)
    .where((eb) => eb.or([eb('last_period', 'is', null), eb('last_period', '<', period)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function confirmTwoFactor(trx: Transaction<Tables>, userId: string, now: Date): Promise<void> {
  await trx.updateTable('app_two_factor').set({ confirmed_at: now }).where('user_id', '=', userId).execute();
}

/** Uses up a backup code. @returns false when it is not one, or was used before */
export async function takeBackupCode(
  trx: Transaction<Tables>,
  userId: string,
  codeHash: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update app_two_factor set backup_code_hashes = array_remove(backup_code_hashes, ${codeHash})
    where user_id = ${userId} and confirmed_at is not null and ${codeHash} = any(backup_code_hashes)
  `.execute(trx);
  return (numAffectedRows ?? 0n) > 0n;
}

/** Removes the second factor, confirmed or not. */
export async function deleteTwoFactor(trx: Transaction<Tables>, userId: string): Promise<void> {
  await trx.deleteFrom('app_two_factor').where('user_id', '=', userId).execute();
}
