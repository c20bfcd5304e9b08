import { describe, expect, it } from 'vitest';
import type { MappedType } from '../../src/importers/maps.ts';
import { textImporter } from '../../src/importers/text.ts';
import { inputOf, runImporter } from './run-importer.ts';

async function linesOf(content: string | Buffer, type?: MappedType, chunkSize?: number) {
  const { records } = await runImporter(
    textImporter(type ? { type } : {}),
    inputOf(content, 'list.txt', chunkSize),
  );
  return records.map((record) =>
    record.kind === 'indicator'
      ? `${record.type} ${record.value}`
      : record.kind === 'rejected'
        ? `${record.where}: ${record.reason}`
        : record.kind,
  );
}

describe('a line of a text list', () => {
  it.each([
    ['192.0.2.1', ['IPV4 192.0.2.1']],
    ['192.0.2.1\t10', ['IPV4 192.0.2.1']],
    ['192.0.2.1 10 0.5', ['IPV4 192.0.2.1']],
    ['192.0.2.1 # scanner.example.com', ['IPV4 192.0.2.1']],
    ['192.0.2.1\t; scanner', ['IPV4 192.0.2.1']],
    ['bad.example.com // why', ['DOMAIN bad.example.com']],
    ['http://bad.example.com/a//b;c', ['URL http://bad.example.com/a//b;c']],
    ['hxxps://bad[.]example[.]com/a', ['URL https://bad.example.com/a']],
    ['bad [.] example [.] com', ['DOMAIN bad.example.com']],
    ['hxxp :// bad [.] example [.] com/a%20b', ['URL http://bad.example.com/a%20b']],
    ['http://bad.example [.] com/a', ['URL http://bad.example.com/a']],
    ['http://bad.example.com/a 5', ['URL http://bad.example.com/a']],
    ['bad.example.com/a 5 0.5%', ['URL http://bad.example.com/a']],
    ['http://bad.example.com/a.exe 2024-01-01 mozi', ['line 1: more than one value in the line']],
    ['http://bad.example.com/a\u00a05', ['URL http://bad.example.com/a']],
    ['http://bad.example.com/a b.exe', ['line 1: more than one value in the line']],
    ['0.0.0.0 bad.example.com', ['DOMAIN bad.example.com']],
    [
      '127.0.0.1\tbad.example.com worse.example.com # two',
      ['DOMAIN bad.example.com', 'DOMAIN worse.example.com'],
    ],
    [':: bad.example.com', ['DOMAIN bad.example.com']],
    ['127.0.0.1 localhost', []],
    ['::1 ip6-localhost ip6-loopback', []],
    ['# comment', []],
    ['; comment', []],
    ['// comment', []],
    ['   ', []],
    ['/wp-content/x.php', ['line 1: a path without a host']],
    ['bad.example.com is bad', ['line 1: more than one value in the line']],
    ['192.0.2.1 192.0.2.2', ['line 1: more than one value in the line']],
    ['what', ['line 1: type not recognized']],
    ['192.0.2.0/24', ['IPV4 192.0.2.0/24']],
    ['192.0.2.0/24 ; SBL123456', ['IPV4 192.0.2.0/24']],
    ['192.0.2.0/24 5', ['IPV4 192.0.2.0/24']],
    ['192.0.2.0/24 100 3', ['IPV4 192.0.2.0/24']],
    ['192.0.2.7/24 5', ['line 1: a network with bits set behind its prefix']],
    ['192.0.2.0/24,comment', ['line 1: type not recognized']],
    ['2001:db8::/32 # documentation', ['IPV6 2001:db8::/32']],
    ['192.0.2.7/24', ['line 1: a network with bits set behind its prefix']],
    ['2001:db8::7/32', ['line 1: a network with bits set behind its prefix']],
    ['192.0.2.6-192.0.2.9', ['IPV4 192.0.2.6/31', 'IPV4 192.0.2.8/31']],
    ['192.0.2.6 - 192.0.2.6 # one', ['IPV4 192.0.2.6']],
    ['192.0.2.9-192.0.2.6', ['line 1: a range that ends before it begins']],
  ])('%j yields %j', async (line, expected) => {
    const outcome = await linesOf(line);
    // The detector may say more of a value than that it knows no type.
    expect(outcome).toEqual(expected);
  });

  it.each([
    ['DOMAIN', 'setup.exe', ['DOMAIN setup.exe']],
    ['DOMAIN', 'http://bad.example.com/', ['line 1: a URL, not a domain']],
    ['DOMAIN', '0.0.0.0 bad.example.com', ['DOMAIN bad.example.com']],
    ['address', '2001:db8::1', ['IPV6 2001:db8::1']],
    ['USER_AGENT', 'evil # agent // 1.0 ;', ['USER_AGENT evil # agent // 1.0 ;']],
    ['USER_AGENT', '# comment', []],
    ['MUTEX', '; not a comment', ['MUTEX ; not a comment']],
    ['FILENAME', '//server/share/a.exe', ['FILENAME //server/share/a.exe']],
  ] as const)('of the declared type %s: %j yields %j', async (type, line, expected) => {
    expect(await linesOf(line, type)).toEqual(expected);
  });
});

describe('a text list', () => {
  const TEXT = '\ufeff# names\r\n192.0.2.1\r\n\r\nwhat\nbad.example.com';

  it.each([1, 2, 3, 7, 65_536])('is read in chunks of %i', async (size) => {
    expect(await linesOf(TEXT, undefined, size)).toEqual([
      'IPV4 192.0.2.1',
      'line 4: type not recognized',
      'DOMAIN bad.example.com',
    ]);
  });

  it.each([1, 2, 3, 7, 65_536])('whose lines end in any way is read in chunks of %i', async (size) => {
    const text = '# names\r192.0.2.1\r\rwhat\r\nbad.example.com\n\r192.0.2.2\r\n\r\n192.0.2.3\r';
    expect(await linesOf(text, undefined, size)).toEqual([
      'IPV4 192.0.2.1',
      'line 4: type not recognized',
      'DOMAIN bad.example.com',
      'IPV4 192.0.2.2',
      'IPV4 192.0.2.3',
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('is recognized with the line ending %j', async (end) => {
    const head = ['# names', '192.0.2.1', 'bad.example.com'].join(end);
    expect(textImporter().recognizes(head, 'list.txt')).toBe(true);
  });

  it('rejects only the lines that are too long or not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${'a'.repeat(70_000)}\n192.0.2.1\n`),
      Buffer.from([0x61, 0xe9, 0x0a]),
      Buffer.from('192.0.2.2\u0000\n192.0.2.3'),
    ]);
    expect(await linesOf(bytes)).toEqual([
      'line 1: line longer than 64 KiB',
      'IPV4 192.0.2.1',
      'line 3: not valid UTF-8',
      'line 4: type not recognized',
      'IPV4 192.0.2.3',
    ]);
  });
});
