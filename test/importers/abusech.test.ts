import { describe, expect, it } from 'vitest';
import { createImporter } from '../../src/importers/recognize.ts';
import { inputOf, ofKind, runImporter } from './run-importer.ts';

type Kind = 'threatfox' | 'urlhaus' | 'malwarebazaar' | 'feodo';
const [MD5, SHA1, SHA256] = ['a'.repeat(32), 'b'.repeat(40), 'c'.repeat(64)];

const run = (kind: Kind, content: unknown) =>
  runImporter(createImporter(kind), inputOf(typeof content === 'string' ? content : JSON.stringify(content)));
const recordsOf = async (kind: Kind, content: unknown) => (await run(kind, content)).records;

const THREATFOX = {
  ioc_value: '192.0.2.1:443',
  ioc_type: 'ip:port',
  threat_type: 'botnet_cc',
  malware_printable: 'Vidar',
  first_seen_utc: '2026-07-24 13:50:06',
  last_seen_utc: null,
  confidence_level: 75,
  tags: 'c2,vidar',
};
const THREATFOX_INDICATOR = {
  kind: 'indicator',
  type: 'IPV4',
  value: '192.0.2.1',
  confidence: 75,
  tags: ['c2', 'vidar', 'Vidar', 'botnet_cc'],
  firstSeen: new Date('2026-07-24T13:50:06Z'),
  lastSeen: null,
  forDetection: true,
};

describe('ThreatFox', () => {
  it('has a tag that is a marking as its TLP', async () => {
    const [record] = await recordsOf('threatfox', { 7: [{ ...THREATFOX, tags: 'c2,TLP:AMBER' }] });
    expect(record).toMatchObject({ tlp: 'AMBER', tags: ['c2', 'Vidar', 'botnet_cc'] });
  });

  it('reads its export', async () => {
    expect(await recordsOf('threatfox', { 7: [THREATFOX], 8: [] })).toEqual([
      expect.objectContaining(THREATFOX_INDICATOR),
    ]);
  });

  it('reads its API response', async () => {
    const { ioc_value: ioc, first_seen_utc, ...rest } = THREATFOX;
    const data = [{ ...rest, ioc, first_seen: `${first_seen_utc} UTC`, tags: ['c2', 'vidar'] }];
    expect(await recordsOf('threatfox', { query_status: 'ok', data })).toEqual([
      expect.objectContaining(THREATFOX_INDICATOR),
    ]);
  });

  it('creates no tag for an unknown family', async () => {
    const [one] = ofKind(
      await recordsOf('threatfox', { 7: [{ ...THREATFOX, malware_printable: 'Unknown malware' }] }),
      'indicator',
    );
    expect(one?.tags).toEqual(['c2', 'vidar', 'botnet_cc']);
  });

  it.each([
    [{ ioc_value: '' }, 'no value'],
    [{ ioc_type: null }, 'no type'],
    [{ ioc_type: 'sha3_384_hash' }, 'unknown type: sha3_384_hash'],
    [{ confidence_level: 101 }, 'confidence not an integer from 0 to 100'],
    [{ first_seen_utc: 'yesterday' }, 'date not readable: first_seen_utc'],
  ])('rejects %j as %s, and continues', async (change, reason) => {
    const records = await recordsOf('threatfox', { 7: [{ ...THREATFOX, ...change }], 8: [THREATFOX] });
    expect(records).toEqual([
      { kind: 'rejected', of: 'indicator', reason, where: 'object 1' },
      expect.objectContaining(THREATFOX_INDICATOR),
    ]);
  });
});

describe('URLhaus', () => {
  const url = { url: 'http://bad.example.com/a', url_status: 'offline', threat: 'malware_download' };
  const expected = {
    type: 'URL',
    value: 'http://bad.example.com/a',
    tags: ['elf', 'malware_download'],
    firstSeen: new Date('2026-02-07T04:31:13Z'),
  };

  it('reads its API response', async () => {
    const urls = [{ ...url, date_added: '2026-02-07 04:31:13 UTC', tags: ['elf'], urlhaus_reference: 'x' }];
    expect(await recordsOf('urlhaus', { query_status: 'ok', urls })).toEqual([
      expect.objectContaining({ ...expected, lastSeen: null }),
    ]);
  });

  it('reads its export', async () => {
    const dated = { dateadded: '2026-02-07 04:31:13 UTC', last_online: '2026-02-08 01:00:00 UTC' };
    expect(
      await recordsOf('urlhaus', { 1: [{ ...url, ...dated, tags: ['elf'], urlhaus_link: 'x' }] }),
    ).toEqual([expect.objectContaining({ ...expected, lastSeen: new Date('2026-02-08T01:00:00Z') })]);
  });

  it('reads its CSV', async () => {
    const lines = [
      '# id,dateadded,url,threat',
      '"1","2026-02-07 04:31:13","http://bad.example.com/a","malware_download"',
    ];
    expect(await recordsOf('urlhaus', lines.join('\n'))).toEqual([
      expect.objectContaining({ ...expected, tags: ['malware_download'] }),
    ]);
  });
});

describe('MalwareBazaar', () => {
  const sample = {
    sha256_hash: SHA256,
    sha1_hash: SHA1,
    md5_hash: MD5,
    file_name: 'file.exe',
    signature: 'AgentTesla',
    first_seen: '2026-05-12 10:00:00',
    last_seen: null,
    tags: ['exe'],
  };

  it('yields an indicator for each hash, none for the file name', async () => {
    const records = ofKind(
      await recordsOf('malwarebazaar', { query_status: 'ok', data: [sample] }),
      'indicator',
    );
    expect(records.map(({ type, value }) => `${type} ${value}`)).toEqual([
      `SHA256 ${SHA256}`,
      `SHA1 ${SHA1}`,
      `MD5 ${MD5}`,
    ]);
    expect(records[0]).toMatchObject({
      tags: ['exe', 'AgentTesla'],
      firstSeen: new Date('2026-05-12T10:00:00Z'),
    });
  });

  it('reads its CSV alike', async () => {
    const header = '# "first_seen_utc","sha256_hash","md5_hash","file_name","file_type_guess","signature"';
    const row = `"2026-05-12 10:00:00", "${SHA256}", "${MD5}", "file.exe", "exe", "AgentTesla"`;
    const records = ofKind(await recordsOf('malwarebazaar', `${header}\n${row}\n`), 'indicator');
    expect(records.map(({ type, tags }) => [type, tags])).toEqual([
      ['SHA256', ['AgentTesla']],
      ['MD5', ['AgentTesla']],
    ]);
  });
});

describe('Feodo Tracker', () => {
  it('reads its list', async () => {
    const entry = {
      ip_address: '192.0.2.7',
      hostname: 'host.example.com',
      first_seen: '2026-02-17 05:41:23',
      last_online: '2026-02-17',
      malware: 'QakBot',
    };
    expect(await recordsOf('feodo', [entry])).toEqual([
      expect.objectContaining({
        type: 'IPV4',
        tags: ['QakBot'],
        firstSeen: new Date('2026-02-17T05:41:23Z'),
        // A day without its time is no sighting before the first.
        lastSeen: new Date('2026-02-17T05:41:23Z'),
      }),
    ]);
  });

  it('accepts an empty list', async () => {
    expect(await run('feodo', [])).toEqual({ records: [], unreadable: null });
  });
});

describe.each(['threatfox', 'urlhaus', 'malwarebazaar'] as const)('a response of %s', (kind) => {
  it.each(['illegal_auth_key', 'unknown_auth_key', 'http_post_expected'])(
    'with the status %s is unreadable',
    async (status) => {
      expect(await run(kind, { query_status: status })).toEqual({
        records: [],
        unreadable: `abuse.ch did not answer the query: ${status}`,
      });
    },
  );

  it.each(['no_results', 'no_result'])('with the status %s is an empty feed', async (status) => {
    expect(await run(kind, { query_status: status })).toEqual({ records: [], unreadable: null });
  });

  it.each([
    [{ query_status: 'ok' }, 'not an answer of abuse.ch'],
    [{ error: 'Unauthorized' }, `not ${kind}`],
    ['<html><body>Rate limit</body></html>', 'the file is an HTML page, not data'],
    ['', 'no data in the file'],
    ['Too many requests', 'no usable column names'],
  ])('that is %j is unreadable', async (content, message) => {
    expect((await run(kind, content)).unreadable).toContain(message);
  });
});
