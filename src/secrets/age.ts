import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';

/**
 * Encryption of files with a passphrase in the age format (https://age-encryption.org/v1), which the programs age and rage can read:
 * scrypt for the passphrase, ChaCha20-Poly1305 in chunks that authenticate their order and the end.
 */

/** A file that cannot be decrypted. */
export class AgeError extends Error {
  override name = 'AgeError';
}

const VERSION_LINE = 'age-encryption.org/v1';
/** The first bytes of every file in the format. */
export const AGE_START = Buffer.from(`${VERSION_LINE}\n`);

/** The base-2 logarithm of scrypt's cost: 128 MB of memory. */
const WORK_FACTOR = 17;
/** A higher cost is refused: it would take over 1 GB of memory. */
const MAX_WORK_FACTOR = 20;
const SALT_LABEL = 'age-encryption.org/v1/scrypt';
const SALT_BYTES = 16;
const FILE_KEY_BYTES = 16;
const NONCE_BYTES = 16;
const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const MAX_HEADER_BYTES = 1024;
const CIPHER = 'chacha20-poly1305';
const TAG = { authTagLength: TAG_BYTES };

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/** Returns null for a text that is not the only one for its bytes: bits of the last letter may be without meaning. */
function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return base64(bytes) === text ? bytes : null;
}

const derive = (key: Buffer, salt: Buffer, use: string) =>
  Buffer.from(hkdfSync('sha256', key, salt, use, 32));
const macOf = (fileKey: Buffer, header: string) =>
  createHmac('sha256', derive(fileKey, Buffer.alloc(0), 'header'))
    .update(header)
    .digest();

/** Returns the key that encrypts the key of a file. */
function wrappingKey(passphrase: string, salt: Buffer, workFactor: number): Promise<Buffer> {
  const options: ScryptOptions = { N: 2 ** workFactor, r: 8, p: 1, maxmem: 2 ** workFactor * 1024 + 2 ** 24 };
  return new Promise((done, fail) =>
    scrypt(passphrase, Buffer.concat([Buffer.from(SALT_LABEL), salt]), 32, options, (error, key) =>
      error ? fail(error) : done(key),
    ),
  );
}

function seal(key: Buffer, nonce: Buffer, text: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, TAG);
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** Returns null for bytes that were not sealed with this key and nonce. */
function open(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer | null {
  const decipher = createDecipheriv(CIPHER, key, nonce, TAG);
  try {
    const text = decipher.setAuthTag(sealed.subarray(-TAG_BYTES)).update(sealed.subarray(0, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]);
  } catch {
    return null;
  }
}

/** Returns the nonce of a chunk: its number in eleven bytes, and whether it is the last one. */
function chunkNonce(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Yields the pieces of a stream in chunks of a size; only the last one may be shorter. @yields the chunk, and whether it is the last */
async function* inChunks(
  source: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<readonly [Buffer, boolean]> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of source) {
    held.push(piece);
    bytes += piece.length;
    if (bytes <= size) continue;
    const all = Buffer.concat(held);
    let at = 0;
    // A full chunk may be the last one: it is held back.
    for (; all.length - at > size; at += size) yield [all.subarray(at, at + size), false];
    held = [all.subarray(at)];
    bytes = all.length - at;
  }
  yield [Buffer.concat(held), true];
}

/** Yields the encrypted form of a stream. */
export async function* encryptAge(
  source: AsyncIterable<Buffer>,
  passphrase: string,
  workFactor: number = WORK_FACTOR,
): AsyncGenerator<Buffer> {
  const [fileKey, salt, nonce] = [
    randomBytes(FILE_KEY_BYTES),
    randomBytes(SALT_BYTES),
    randomBytes(NONCE_BYTES),
  ];
  const wrapped = seal(await wrappingKey(passphrase, salt, workFactor), Buffer.alloc(12), fileKey);
  const header = `${VERSION_LINE}\n-> scrypt ${base64(salt)} ${workFactor}\n${base64(wrapped)}\n---`;
  yield Buffer.from(`${header} ${base64(macOf(fileKey, header))}\n`);
  yield nonce;
  const key = derive(fileKey, nonce, 'payload');
  let number = 0;
  for await (const [chunk, isLast] of inChunks(source, CHUNK_BYTES))
    yield seal(key, chunkNonce(number++, isLast), chunk);
}

const HEADER =
  /^(age-encryption\.org\/v1\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9]\d?)\n([A-Za-z0-9+/]{43})\n---) ([A-Za-z0-9+/]{43})\n$/;

/**
 * Yields the decrypted form of a stream. Yielded bytes are authentic; that they are complete is only certain at the end.
 * @throws {AgeError} for another format or another way of encryption, a wrong passphrase, and bytes that were changed, moved or cut off
 */
export async function* decryptAge(source: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Buffer> {
  const { header, rest } = await readHeader(source);
  const [, signed = '', saltText = '', factor = '', bodyText = '', macText = ''] = HEADER.exec(header) ?? [];
  const [salt, body, mac] = [saltText, bodyText, macText].map(fromBase64);
  if (signed === '' || !salt || !body || !mac)
    throw new AgeError('it is not encrypted with a passphrase alone, or not in the age format');
  const workFactor = Number(factor);
  if (workFactor > MAX_WORK_FACTOR)
    throw new AgeError(
      `its work factor is ${workFactor}, and ${MAX_WORK_FACTOR} is the highest that is accepted`,
    );
  const fileKey = open(await wrappingKey(passphrase, salt, workFactor), Buffer.alloc(12), body);
  if (fileKey === null) throw new AgeError('the passphrase is wrong');
  if (!timingSafeEqual(macOf(fileKey, signed), mac)) throw new AgeError('its header has been changed');
  yield* decryptPayload(rest, fileKey);
}

async function* decryptPayload(rest: AsyncIterable<Buffer>, fileKey: Buffer): AsyncGenerator<Buffer> {
  let key: Buffer | undefined;
  const withoutNonce = async function* () {
    let start = Buffer.alloc(0);
    for await (const piece of rest) {
      if (key) yield piece;
      else {
        start = Buffer.concat([start, piece]);
        if (start.length < NONCE_BYTES) continue;
        key = derive(fileKey, start.subarray(0, NONCE_BYTES), 'payload');
        yield start.subarray(NONCE_BYTES);
      }
    }
  };
  let number = 0;
  for await (const [chunk, isLast] of inChunks(withoutNonce(), CHUNK_BYTES + TAG_BYTES)) {
    const text = key && chunk.length >= TAG_BYTES ? open(key, chunkNonce(number, isLast), chunk) : null;
    // The last chunk is empty only if the whole is (age's specification, "Payload").
    if (text === null || (text.length === 0 && number > 0))
      throw new AgeError('it has been changed, or its end is missing');
    number++;
    yield text;
  }
}

/** Splits a stream behind the line that ends the header. */
async function readHeader(
  source: AsyncIterable<Buffer>,
): Promise<{ header: string; rest: AsyncIterable<Buffer> }> {
  const pieces = source[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  let end = -1;
  while (end < 0 && start.length < MAX_HEADER_BYTES) {
    const { value, done } = await pieces.next();
    if (done) break;
    start = Buffer.concat([start, value]);
    const mac = start.indexOf('\n---');
    end = mac < 0 ? -1 : start.indexOf('\n', mac + 1);
  }
  const rest = async function* () {
    yield start.subarray(end + 1);
    yield* { [Symbol.asyncIterator]: () => pieces };
  };
  return { header: start.toString('latin1', 0, end + 1), rest: rest() };
}
