import { createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Returns a random token of 256 bits for a cookie or a link. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the form in which a token is stored: it is random, so its hash cannot be reversed by guessing. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * Returns a function that hashes codes with a key derived from TIPLINE_SECRET: codes that people type are short
 * enough to be guessed from a plain hash.
 */
export function codeHasher(secret: string): (code: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, 'tipline', 'backup codes', 32));
  return (code) => createHmac('sha256', key).update(code).digest('base64url');
}
