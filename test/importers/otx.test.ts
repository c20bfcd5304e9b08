import { describe, expect, it } from 'vitest';
import { otxImporter } from '../../src/importers/otx.ts';
import { countByOutcome, inputOf, ofKind, runImporter } from './run-importer.ts';

const run = (content: unknown) => runImporter(otxImporter, inputOf(JSON.stringify(content)));
const PULSE = {
  id: '55b13b6ab45ff52d687ccc3c',
  name: 'A pulse',
  description: 'What it is about',
  author_name: 'someone',
  created: '2026-01-02T10:00:00.123000',
  modified: '2026-02-03T10:00:00',
  tlp: 'green',
  tags: ['phishing'],
  adversary: 'Fancy Example',
  malware_families: [{ id: 'X', display_name: 'ExampleRAT' }],
  attack_ids: ['T1059', { id: 'T1566.001', name: 'Spearphishing Attachment' }, 'TA0002'],
  references: ['see', 'https://example.com/report'],
  indicators: [
    { id: 1, type: 'hostname', indicator: 'bad.example.com', created: '2026-01-03T00:00:00', is_active: 1 },
  ],
};
const withIndicators = (...indicators: unknown[]) => run({ results: [{ ...PULSE, indicators }], next: null });
const REPORT_ID = 'otx-pulse--55b13b6ab45ff52d687ccc3c';

describe('an OTX pulse', () => {
  it('has the more restrictive one of its TLP and a tag that is a marking', async () => {
    const { records } = await run({ results: [{ ...PULSE, tags: ['phishing', 'tlp:red'] }], next: null });
    expect(ofKind(records, 'report')).toMatchObject([{ tlp: 'RED', tags: ['phishing'] }]);
    expect(ofKind(records, 'indicator')).toMatchObject([{ tlp: 'RED', tags: ['phishing'] }]);
  });

  it('becomes a report', async () => {
    const { records } = await run({ results: [PULSE], next: null });
    expect(ofKind(records, 'report')).toEqual([
      {
        kind: 'report',
        externalIds: [REPORT_ID],
        statedAt: new Date('2026-02-03T10:00:00Z'),
        tlp: 'GREEN',
        confidence: null,
        title: 'A pulse',
        description: 'What it is about',
        publishedAt: new Date('2026-01-02T10:00:00.123Z'),
        tags: ['phishing'],
        url: 'https://example.com/report',
        authors: ['someone'],
        links: ['https://example.com/report'],
      },
    ]);
  });

  it('is related to its subjects, and its indicators indicate them', async () => {
    const { records } = await run({ results: [PULSE], next: null });
    const [indicator] = ofKind(records, 'indicator');
    const id = indicator?.externalIds[0] ?? '';
    expect(id).toMatch(new RegExp(`^${REPORT_ID}--[0-9a-f-]{36}$`));
    expect(ofKind(records, 'relationship').map(({ type, from, to }) => [type, from, to])).toEqual([
      ['refers-to', REPORT_ID, 'otx-adversary--fancy example'],
      ['refers-to', REPORT_ID, 'otx-malware--examplerat'],
      ['refers-to', REPORT_ID, 'otx-technique--T1059'],
      ['refers-to', REPORT_ID, 'otx-technique--T1566.001'],
      ['refers-to', REPORT_ID, id],
      ['indicates', id, 'otx-adversary--fancy example'],
      ['indicates', id, 'otx-malware--examplerat'],
    ]);
    expect(ofKind(records, 'technique').map(({ attackId, name }) => [attackId, name])).toEqual([
      ['T1059', 'T1059'],
      ['T1566.001', 'Spearphishing Attachment'],
    ]);
  });

  it('with several families creates no indicates relationships', async () => {
    const { records } = await run({
      results: [{ ...PULSE, adversary: '', malware_families: ['A', 'B', 'a'] }],
    });
    expect(ofKind(records, 'software').map(({ name }) => name)).toEqual(['A', 'B']);
    expect(ofKind(records, 'actor')).toEqual([]);
    expect(ofKind(records, 'relationship').filter(({ type }) => type === 'indicates')).toEqual([]);
  });

  it.each([
    ['IPv4', '192.0.2.1', 'indicator IPV4'],
    ['IPv6', '2001:db8::1', 'indicator IPV6'],
    ['domain', 'example.com', 'indicator DOMAIN'],
    ['URL', 'http://bad.example.com/', 'indicator URL'],
    ['FileHash-MD5', 'a'.repeat(32), 'indicator MD5'],
    ['FileHash-SHA1', 'a'.repeat(40), 'indicator SHA1'],
    ['FileHash-SHA256', 'a'.repeat(64), 'indicator SHA256'],
    ['email', 'a@example.com', 'indicator EMAIL'],
    ['CVE', 'CVE-2025-48384', 'indicator CVE'],
    ['Mutex', 'Global\\x', 'indicator MUTEX'],
    ['FilePath', 'C:\\a.exe', 'indicator FILENAME'],
    ['BitcoinAddress', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'indicator BTC_ADDRESS'],
    ['CIDR', '192.0.2.0/24', 'indicator IPV4'],
    ['FileHash-PEHASH', 'a'.repeat(40), 'attribute'],
    ['FileHash-IMPHASH', 'a'.repeat(32), 'attribute'],
    ['YARA', 'x', 'attribute'],
    ['JA3', 'a'.repeat(32), 'attribute'],
    ['SSLCertFingerprint', 'a'.repeat(40), 'indicator SHA1'],
  ])('of type %s yields %s: %s', async (type, indicator, outcome) => {
    expect(countByOutcome((await withIndicators({ type, indicator })).records)).toHaveProperty([outcome], 1);
  });

  it('keeps the title and the description of an indicator', async () => {
    const named = { type: 'domain', indicator: 'example.com', title: 'C2', description: 'Seen in May' };
    const [one] = ofKind((await withIndicators(named)).records, 'indicator');
    expect(one?.records).toMatchObject([{ reportId: REPORT_ID, name: 'C2', description: 'Seen in May' }]);
  });

  it('keeps the text of a rule', async () => {
    const rule = { type: 'YARA', indicator: 'a'.repeat(40), title: 'Loader', content: 'rule loader {}' };
    const { records } = await withIndicators(rule);
    expect(ofKind(records, 'attribute')).toMatchObject([
      { type: 'yara', name: 'Loader', value: 'rule loader {}', forDetection: true },
    ]);
  });

  it('keeps inactive indicators, not for detection, with their expiry', async () => {
    const off = { type: 'domain', indicator: 'example.com', is_active: 0, expiration: '2026-03-01T00:00:00' };
    const [one] = ofKind((await withIndicators(off)).records, 'indicator');
    expect(one).toMatchObject({
      forDetection: false,
      expiresAt: new Date('2026-03-01'),
      firstSeen: new Date(PULSE.created.concat('Z')),
    });
  });

  it('rejects invalid indicators individually', async () => {
    const broken = [
      null,
      7,
      {},
      { type: 'domain' },
      { type: 'domain', indicator: 'example.com', created: 'x' },
    ];
    const { records } = await withIndicators(...broken);
    expect(ofKind(records, 'rejected').map(({ reason }) => reason)).toEqual([
      'not an object',
      'not an object',
      'no type',
      'no value',
      'date not readable: created',
    ]);
  });

  it('can also be read alone', async () => {
    expect(ofKind((await run(PULSE)).records, 'indicator')).toHaveLength(1);
  });

  it.each([
    [{ detail: 'Authentication required' }, 'OTX refused: Authentication required'],
    [{}, 'not OTX: the root object has no list results'],
  ])('rejects %j', async (content, message) => {
    expect((await run(content)).unreadable).toBe(message);
  });
});
