/** Archives in the format of POSIX tar (ustar, IEEE Std 1003.1, "pax"), which every tar program lists and unpacks. */

/** An archive that ends early, or is none. */
export class ArchiveError extends Error {
  override name = 'ArchiveError';
}

interface Entry {
  name: string;
  content: Buffer;
}

const BLOCK = 512;
/** No row that PostgreSQL can store makes a larger entry. */
const MAX_ENTRY_BYTES = 2 ** 31 - 1;

const padded = (bytes: number) => Math.ceil(bytes / BLOCK) * BLOCK;

/** Returns the bytes of an entry. @param modifiedAt in Unix seconds */
function* entryBytes({ name, content }: Entry, modifiedAt: number): Generator<Buffer> {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  header.write(name, 0, 100, 'latin1');
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(content.length, 124, 11);
  octal(modifiedAt, 136, 11);
  header.fill(' ', 148, 156);
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  octal(checksumOf(header), 148, 6);
  header[154] = 0;
  yield header;
  yield content;
  yield Buffer.alloc(padded(content.length) - content.length);
}

const checksumOf = (header: Buffer) => header.reduce((sum, byte) => sum + byte, 0);

/** Yields an archive. @param now the time of its entries */
export async function* writeTar(entries: AsyncIterable<Entry>, now: Date): AsyncGenerator<Buffer> {
  const modifiedAt = Math.floor(now.getTime() / 1000);
  for await (const entry of entries) yield* entryBytes(entry, modifiedAt);
  yield Buffer.alloc(2 * BLOCK);
}

/** Yields the entries of an archive that `writeTar` has written. @throws {ArchiveError} */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
  const read = reader(source);
  for (;;) {
    const header = await read(BLOCK);
    if (header.every((byte) => byte === 0)) return;
    const { name, size } = parseHeader(header);
    const content = await read(padded(size));
    yield { name, content: content.subarray(0, size) };
  }
}

function parseHeader(header: Buffer): { name: string; size: number } {
  const field = (from: number, to: number) => header.toString('latin1', from, to).replace(/[\0 ].*$/s, '');
  const blank = Buffer.from(header).fill(' ', 148, 156);
  const size = Number.parseInt(field(124, 136), 8);
  const isValid = Number.parseInt(field(148, 156), 8) === checksumOf(blank) && size <= MAX_ENTRY_BYTES;
  if (!isValid || field(257, 262) !== 'ustar') throw new ArchiveError('it is no archive');
  return { name: field(0, 100), size };
}

/** Returns a function that reads the next bytes of a stream. */
function reader(source: AsyncIterable<Buffer>): (bytes: number) => Promise<Buffer> {
  const pieces = source[Symbol.asyncIterator]();
  let held: Buffer[] = [];
  let length = 0;
  return async (bytes) => {
    while (length < bytes) {
      const { value, done } = await pieces.next();
      if (done) throw new ArchiveError('its end is missing');
      held.push(value);
      length += value.length;
    }
    const all = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held);
    held = [all.subarray(bytes)];
    length -= bytes;
    return all.subarray(0, bytes);
  };
}
