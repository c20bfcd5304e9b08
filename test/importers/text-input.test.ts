import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { UnreadableInput } from '../../src/importers/importer.ts';
import { openText, readHead } from '../../src/importers/text-input.ts';
import { inputOf } from './run-importer.ts';

async function readAll(content: Buffer | string, chunkSize?: number): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of openText(inputOf(content, 'file', chunkSize))) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('openText', () => {
  it.each([1, 2, 65_536])('strips the UTF-8 BOM, in chunks of %i bytes', async (size) => {
    expect(await readAll('\ufeffvalue', size)).toBe('value');
  });

  it.each([1, 65_536])('decompresses gzip by its magic bytes, in chunks of %i bytes', async (size) => {
    expect(await readAll(gzipSync('\ufeffvalue'), size)).toBe('value');
  });

  it('reads an empty file', async () => {
    expect(await readAll('')).toBe('');
  });

  it('reports a file that cannot be opened', async () => {
    const reading = readHead({ fileName: 'f', open: () => createReadStream('/nonexistent/file') });
    await expect(reading).rejects.toThrow(
      new UnreadableInput('the file cannot be read: there is no such file or directory'),
    );
  });

  it('rejects UTF-16', async () => {
    await expect(readAll(Buffer.from('\ufeffvalue', 'utf16le'))).rejects.toThrow('the file is UTF-16');
  });

  it.each([
    ['little', Buffer.from('value\n'.repeat(1000), 'utf16le')],
    ['big', Buffer.from('value', 'utf16le').swap16()],
  ])('rejects UTF-16 without a BOM, %s endian', async (_, bytes) => {
    await expect(readAll(bytes)).rejects.toThrow('the file is UTF-16; convert it to UTF-8');
    await expect(readAll(gzipSync(bytes))).rejects.toThrow('the file is UTF-16');
  });

  it('rejects a ZIP archive', async () => {
    const message = 'the file is a ZIP archive: unpack it, or compress it with gzip';
    await expect(readAll('PK\u0003\u0004\u0014\u0000\u0000\u0000x')).rejects.toThrow(message);
  });

  it.each(['PK', 'a\u0000', 'value\u0000', '\u0000\u0000\u0000\u0000'])('reads %j', async (text) => {
    expect(await readAll(text)).toBe(text);
  });

  it('reports truncated gzip data after reading what precedes it', async () => {
    const packed = gzipSync(Buffer.from(Array.from({ length: 50_000 }, (_, i) => String(i)).join('\n')));
    let size = 0;
    const reading = async () => {
      for await (const chunk of openText(inputOf(packed.subarray(0, packed.length / 2), 'f', 1000)))
        size += chunk.length;
    };
    await expect(reading()).rejects.toThrow('the gzip data is broken or ends too early');
    expect(size).toBeGreaterThan(0);
  });

  it('rejects a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    await expect(readAll(bomb)).rejects.toThrow('more than 200 times its size');
  });
});

describe('readHead', () => {
  it.each([
    ['a long file', Buffer.alloc(1_000_000, 'x')],
    ['UTF-16', Buffer.from('\ufeffvalue', 'utf16le')],
    ['gzip', gzipSync(Buffer.alloc(1_000_000, 'x'))],
  ])('closes the file after %s', async (_, bytes) => {
    const source = Readable.from(inputOf(bytes, 'f', 1000).open());
    const closed = new Promise((resolve) => source.once('close', resolve));
    await readHead({ fileName: 'f', open: () => source }).catch(() => {});
    await closed;
    expect(source.destroyed).toBe(true);
  });

  it('reads no more than 64 KiB', async () => {
    expect(await readHead(inputOf('x'.repeat(200_000)))).toHaveLength(65_536);
  });
});
