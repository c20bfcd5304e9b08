import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPassphrase } from '../../src/cli/backup.ts';
import { AgeError, decryptAge, encryptAge } from '../../src/secrets/age.ts';
import { temporaryDirectory } from '../support/directories.ts';

const PASSPHRASE = 'correct horse battery';
/** Cheap: what scrypt costs is no concern of these tests. */
const WORK_FACTOR = 4;
const CHUNK = 64 * 1024;
/** Of the payload: its nonce; of each chunk: its tag. */
const [NONCE, TAG] = [16, 16];

async function* piecesOf(bytes: Buffer, size = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}

const encrypt = (text: Buffer) => all(encryptAge(piecesOf(text), PASSPHRASE, WORK_FACTOR));
const decrypt = (file: Buffer, passphrase = PASSPHRASE, size?: number) =>
  all(decryptAge(piecesOf(file, size), passphrase));
const text = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 7 + (i >> 8)) % 251));

/** Made by the package age-encryption, with a work factor of 10. */
const MADE_BY_AGE = Buffer.from(
  'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCB6K3RIWkM3VzVPM3VsWnR5VGlnVW53IDEwCnlWOEZzY2ZmcmtDeE5IUU9FZThYOUlzZ1lNY0JWak5SdnJsL1hISURwOEUKLS0tIE5Kc09iQ3VMemRMaTJiWi9oS1EwejRvWEZmOEJuanJ0bVhEbGFUQlg4WmcKLcL5VwKFRjw+zbANvs4vjF6IBjEYQLWKyHyFDfscdhi6yHOTFf5twfxDuEiCOR5PdE7uwmiSPEQ=',
  'base64',
);

describe('files in the age format', () => {
  it('that another program has made are decrypted', async () => {
    expect((await decrypt(MADE_BY_AGE)).toString()).toBe('Tipline\n'.repeat(3));
  });

  it.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])('hold %i bytes unchanged', async (length) => {
    expect((await decrypt(await encrypt(text(length)))).equals(text(length))).toBe(true);
  });

  it('are decrypted in whatever pieces they arrive', async () => {
    const file = await encrypt(text(300));
    for (const size of [1, 7, 100_000])
      expect((await decrypt(file, PASSPHRASE, size)).equals(text(300))).toBe(true);
  });

  it('are different each time', async () => {
    expect((await encrypt(text(10))).equals(await encrypt(text(10)))).toBe(false);
  });

  it('are rejected with another passphrase', async () => {
    await expect(decrypt(await encrypt(text(10)), 'another')).rejects.toThrow('the passphrase is wrong');
  });

  it('are rejected with any byte changed', async () => {
    const file = await encrypt(text(40));
    for (let at = 0; at < file.length; at += 3) {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(decrypt(changed), `byte ${at}`).rejects.toThrow(AgeError);
    }
  });

  it('are rejected when they are cut off, wherever', async () => {
    const file = await encrypt(text(2 * CHUNK + 10));
    const payload = file.length - (2 * CHUNK + 10 + 3 * TAG);
    for (const end of [
      0,
      30,
      payload - 1,
      payload,
      payload + 5,
      payload + CHUNK + TAG,
      file.length - 26,
      file.length - 1,
    ])
      await expect(decrypt(file.subarray(0, end)), `${end} bytes`).rejects.toThrow(AgeError);
  });

  it('are rejected with chunks in another order, or twice', async () => {
    const file = await encrypt(text(3 * CHUNK));
    const start = file.length - 3 * (CHUNK + TAG);
    const chunk = (number: number) =>
      file.subarray(start + number * (CHUNK + TAG), start + (number + 1) * (CHUNK + TAG));
    for (const order of [
      [1, 0, 2],
      [0, 0, 1, 2],
      [0, 2],
    ])
      await expect(decrypt(Buffer.concat([file.subarray(0, start), ...order.map(chunk)]))).rejects.toThrow(
        AgeError,
      );
    expect(file.subarray(start - NONCE, start)).toHaveLength(NONCE);
  });

  it('are rejected with a work factor that takes too much memory', async () => {
    const file = await encrypt(text(1));
    const demanding = Buffer.from(file.toString('latin1').replace(/ 4\n/, ' 30\n'), 'latin1');
    await expect(decrypt(demanding)).rejects.toThrow('work factor is 30, and 20 is the highest');
  });

  it('are rejected if they are encrypted to a key', async () => {
    const file = (await encrypt(text(1))).toString('latin1').replace('-> scrypt', '-> X25519');
    await expect(decrypt(Buffer.from(file, 'latin1'))).rejects.toThrow(
      'not encrypted with a passphrase alone',
    );
  });
});

describe('the passphrase of a new backup', () => {
  const file = (text: string) => {
    const path = join(temporaryDirectory(), 'passphrase');
    writeFileSync(path, text);
    return path;
  };

  it('is the first line of a file, and has at least 12 characters', async () => {
    expect(await readPassphrase(file('a long passphrase\r\nnot this\n'), true)).toBe('a long passphrase');
    await expect(readPassphrase(file('too short\n'), true)).rejects.toThrow('at least 12 characters');
    await expect(readPassphrase(file('\n'), false)).rejects.toThrow('must hold the passphrase; it is empty');
    expect(await readPassphrase(file('short'), false)).toBe('short');
  });
});
