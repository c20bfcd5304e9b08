import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const BACKUP_CODES = 10;
/** The characters of backup codes, without letters and digits that look alike. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** The codes of the periods before and after the current one are accepted: clocks differ (RFC 6238 §5.2). */
const WINDOW = 1;

/** A time-based one-time password (RFC 6238) with the parameters that authenticators assume. */
export interface NewTwoFactor {
  /** The secret in Base32. */
  secret: string;
  /** The `otpauth://` URI that authenticators scan. */
  uri: string;
  /** Each is valid once, in place of a code. */
  backupCodes: string[];
}

export function createTwoFactor(email: string): NewTwoFactor {
  const secret = new Secret({ size: 20 });
  const uri = new TOTP({ issuer: 'Tipline', label: email, secret }).toString();
  return { secret: secret.base32, uri, backupCodes: Array.from({ length: BACKUP_CODES }, backupCode) };
}

/** Returns a code of 50 random bits, in two groups. */
function backupCode(): string {
  const letters = Array.from({ length: 10 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
}

/** Returns the period of 30 seconds that a code belongs to; null when it is not valid now. */
export function periodOfCode(secret: string, code: string, now: Date): number | null {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const timestamp = now.getTime();
  const delta = totp.validate({ token: code, timestamp, window: WINDOW });
  return delta === null ? null : totp.counter({ timestamp }) + delta;
}
