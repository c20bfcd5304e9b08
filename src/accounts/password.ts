import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** Cost parameters of scrypt: N is 2 to the power of `log2N`. */
interface Cost {
  log2N: number;
  r: number;
  p: number;
}

/**
 * OWASP Password Storage Cheat Sheet: N=2^15, r=8, p=3. It takes 32 MiB and runs outside of the event loop.
 */
const COST: Cost = { log2N: 15, r: 8, p: 3 };
const MAX_MEMORY = 64 * 1024 * 1024;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** @returns the cost, the salt and the derived key, separated by `$` */
export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, cost);
  const form = `scrypt-${cost.log2N}-${cost.r}-${cost.p}`;
  return [form, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** Verifies a password with the cost that the hash was made with, which may differ from the current one. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [form = '', salt = '', key = ''] = hash.split('$');
  const [, log2N, r, p] = form.match(/^scrypt-(\d+)-(\d+)-(\d+)$/) ?? [];
  if (!log2N) return false;
  const expected = Buffer.from(key, 'base64url');
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost);
  return expected.length === derived.length && timingSafeEqual(expected, derived);
}

/**
 * Takes as long as verifying a password, where there is no hash: timing must not reveal which accounts exist.
 */
export async function verifyDummy(password: string): Promise<false> {
  await derive(password, Buffer.alloc(SALT_BYTES), COST);
  return false;
}

function derive(password: string, salt: Buffer, { log2N, r, p }: Cost): Promise<Buffer> {
  const options = { N: 2 ** log2N, r, p, maxmem: MAX_MEMORY };
  return new Promise((done, fail) =>
    // NFKC makes a password match that is typed on another keyboard (NIST SP 800-63B §5.1.1.2).
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error ? fail(error) : done(key),
    ),
  );
}
