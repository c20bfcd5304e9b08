import { randomInt } from 'node:crypto';
import type { Transaction } from 'kysely';
import { Secret, TOTP } from 'otpauth';
import type { Tables } from '../db/tables.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { User } from './accounts.queries.ts';
import { findTwoFactorSecret, takeBackupCode, takePeriod, writeTwoFactor } from './two-factor.queries.ts';

const BACKUP_CODES = 10;
/** The characters of backup codes, without letters and digits that look alike. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** The codes of the periods before and after the current one are accepted: clocks differ (RFC 6238 §5.2). */
const WINDOW = 1;

/** A time-based one-time password (RFC 6238) with the parameters that authenticators assume. */
interface NewTwoFactor {
  /** The secret in Base32. */
  secret: string;
  /** The `otpauth://` URI that authenticators scan. */
  uri: string;
  /** Each is valid once, in place of a code. */
  backupCodes: string[];
}

function createTwoFactor(email: string): NewTwoFactor {
  const secret = new Secret({ size: 20 });
  const uri = new TOTP({ issuer: 'Tipline', label: email, secret }).toString();
  return { secret: secret.base32, uri, backupCodes: Array.from({ length: BACKUP_CODES }, backupCode) };
}

/** Returns a code of 50 random bits, in two groups. */
function backupCode(): string {
  const letters = Array.from({ length: 10 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
}

/** Returns a backup code as it is hashed; people type it in lower case, without the hyphen or with blanks. */
function normalizeBackupCode(code: string): string {
  const letters = code.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
}

/** Returns the period of 30 seconds that a code belongs to; null when it is not valid now. */
function periodOfCode(secret: string, code: string, now: Date): number | null {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const timestamp = now.getTime();
  const delta = totp.validate({ token: code, timestamp, window: WINDOW });
  return delta === null ? null : totp.counter({ timestamp }) + delta;
}

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
 * @throws {SecretError} when TIPLINE_SECRET has changed
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

/**
 * Uses up a backup code of a user's second factor.
 * @returns false when it is not one, or was used before
 * @throws {SecretError} when TIPLINE_SECRET has changed, with which they are hashed
 */
export async function takeBackup(
  { secrets, hashCode }: TwoFactorDeps,
  trx: Transaction<Tables>,
  userId: string,
  code: string,
): Promise<boolean> {
  if (await takeBackupCode(trx, userId, hashCode(normalizeBackupCode(code)))) return true;
  const sealed = await findTwoFactorSecret(trx, userId, true);
  if (sealed !== undefined) secrets.open(sealed);
  return false;
}
