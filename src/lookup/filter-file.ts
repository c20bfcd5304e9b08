import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeDigest } from '../version.ts';
import { emptyWords } from './bloom-filter.ts';
import type { FilterStore, StoredFilters, StoredLevel } from './listed-values.ts';

/** The first line of the file, in JSON; the words of the filters follow in its order. */
interface Header extends Omit<StoredFilters, 'levels'> {
  /** Other code may read values otherwise. */
  code: string;
  /** Of the line without this member, and of everything behind it, in Base64. */
  sha256: string;
  levels: (Omit<StoredLevel, 'words'> & { bytes: number })[];
}

type Unsigned = Omit<Header, 'sha256'>;

/** Stores filters in a file, which processes with the same database may share: each replaces it as a whole. */
export function filterFile(path: string): FilterStore {
  return {
    async read() {
      const content = await readFile(path).catch((error) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      return content && parse(content);
    },
    async write({ levels, ...rest }) {
      const next = `${path}.${randomUUID()}`;
      const bodies = levels.map(({ words }) => Buffer.from(words.buffer));
      const header: Unsigned = {
        ...rest,
        code: codeDigest(),
        levels: levels.map(({ words, ...level }) => ({ ...level, bytes: words.byteLength })),
      };
      const line: Header = { ...header, sha256: digestOf(header, bodies) };
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        await writeFile(next, [`${JSON.stringify(line)}\n`, ...bodies], { mode: 0o600 });
        await rename(next, path);
      } finally {
        await rm(next, { force: true });
      }
    },
  };
}

/** Returns null for a file of other code, and for one that is damaged: it would hide values that are listed. */
function parse(content: Buffer): StoredFilters | null {
  const end = content.indexOf('\n');
  const body = content.subarray(end + 1);
  const header = headerOf(content.subarray(0, end).toString());
  if (header?.code !== codeDigest()) return null;
  const { sha256, ...unsigned } = header;
  if (sha256 !== digestOf(unsigned, [body])) return null;
  const { point, expiredBy } = header;
  let at = 0;
  const levels = header.levels.map(({ bytes, ...level }) => {
    const words = emptyWords(bytes);
    body.copy(Buffer.from(words.buffer), 0, at, at + bytes);
    at += bytes;
    return { ...level, words };
  });
  return { point, expiredBy, levels };
}

function headerOf(line: string): Header | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function digestOf(header: Unsigned, bodies: readonly Buffer[]): string {
  const hash = createHash('sha256').update(JSON.stringify(header));
  for (const body of bodies) hash.update(body);
  return hash.digest('base64');
}
