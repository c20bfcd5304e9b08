import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** OWASP Password Storage Cheat Sheet: N=2^15, r=8, p=3. It takes 32 MiB and runs outside of the event loop. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const FORM = 'scrypt-15-8-3';

/** @returns the form, the salt and the derived key, with `$` between */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, COST);
  return [FORM, salt.toString('base64url'), key.toString('base64url')].join('$');
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [form, salt = '', key = ''] = hash.split('$');
  if (form !== FORM) return false;
  const expected = Buffer.from(key, 'base64url');
  const derived = await derive(password, Buffer.from(salt, 'base64url'), COST);
  return expected.length === derived.length && timingSafeEqual(expected, derived);
}

/** Takes as long as verifying does, where there is nothing to verify: time must not tell who has an account. */
export async function verifyNothing(password: string): Promise<false> {
  await derive(password, Buffer.alloc(SALT_BYTES), COST);
  return false;
}

function derive(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((done, fail) =>
    // NFKC: the same password, typed on another keyboard (NIST SP 800-63B §5.1.1.2).
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error ? fail(error) : done(key),
    ),
  );
}
