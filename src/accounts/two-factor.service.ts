import type { Transaction } from 'kysely';
import type { Tables } from '../db/tables.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { User } from './accounts.queries.ts';
import { findTwoFactorSecret, takePeriod, writeTwoFactor } from './two-factor.queries.ts';
import { createTwoFactor, periodOfCode } from './two-factor.ts';

export interface TwoFactorDeps {
  /** Encrypts the secrets of second factors. */
  secrets: SecretBox;
  hashCode(code: string): string;
}

/** Stores a new second factor, which is not in use until a code confirms it. */
export async function startTwoFactor(
  { secrets, hashCode }: TwoFactorDeps,
  trx: Transaction<Tables>,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<{ uri: string; backupCodes: string[] }> {
  const { secret, uri, backupCodes } = createTwoFactor(email);
  const backupCodeHashes = backupCodes.map(hashCode);
  await writeTwoFactor(trx, id, { secret: secrets.seal(secret), backupCodeHashes });
  return { uri, backupCodes };
}

/**
 * Uses up a code of a user's second factor.
 * @returns false when it is wrong, or was used before, on any node
 */
export async function takeCode(
  { secrets }: TwoFactorDeps,
  trx: Transaction<Tables>,
  userId: string,
  code: string,
  { isConfirmed, now }: { isConfirmed: boolean; now: Date },
): Promise<boolean> {
  const sealed = await findTwoFactorSecret(trx, userId, isConfirmed);
  const period = sealed === undefined ? null : periodOfCode(secrets.open(sealed), code, now);
  return period !== null && (await takePeriod(trx, userId, period));
}
