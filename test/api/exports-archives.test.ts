import { afterEach, beforeEach, expect, it } from 'vitest';
import { indicatorId } from '../../src/model/identity.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { filesOf } from '../formats/input.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { attributeRecord, relationshipRecord, reportRecord } from '../support/records.ts';

const JA3 = ['a', 'b', 'c'].map((digit) => digit.repeat(32));

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine, { publicAddress: 'https://tipline.example' });
  });
  afterEach(() => harness.close());

  const archive = async (query: string, key?: string) => {
    const answer = await harness.get(`/api/v1/exports/${query}`, key ? { key } : {});
    expect(answer.statusCode, answer.body).toBe(200);
    return { answer, files: await filesOf(answer.rawPayload) };
  };
  const linesOf = (files: Map<string, string>, name: string) =>
    (files.get(name) ?? '').split('\n').slice(0, -1);

  /** More of each type than a batch, mixed. */
  async function loadMany(count: number) {
    const values: [IndicatorType, (n: number) => string][] = [
      ['URL', (n) => `http://host${n}.evil.example/x`],
      ['SHA256', (n) => String(n).padStart(64, 'a')],
      ['IPV4', (n) => `198.18.${n >> 8}.${n & 255}`],
      ['DOMAIN', (n) => `host${n}.evil.example`],
      ['CVE', (n) => `CVE-2026-${10_000 + n}`],
    ];
    const records = Array.from({ length: count }, (_, n) =>
      values.map(([type, value]) => indicatorRecord(type, value(n + 1))),
    );
    await harness.load(records.flat());
  }

  it('of datasets has every indicator in its file', async () => {
    await loadMany(600);
    const { answer, files } = await archive('suricata?style=datasets');
    expect(answer.headers['content-type']).toBe('application/zip');
    expect(answer.headers['content-disposition']).toContain('tipline-indicators-suricata.zip');
    expect(answer.headers['x-total-count']).toBe('3000');
    expect(answer.headers['x-skipped'] ?? answer.trailers['x-skipped']).toBe('600;cve=600');
    for (const name of ['tipline-names.lst', 'tipline-addresses.lst', 'tipline.sha256'])
      expect([name, new Set(linesOf(files, name)).size]).toEqual([name, 600]);
    const urls = linesOf(files, 'tipline.rules').filter((line) => line.includes('msg:"Tipline URL'));
    expect(urls).toHaveLength(600);
  });

  it('leaves out expired JA3 fingerprints, also while a response is cached', async () => {
    const hour = 3_600_000;
    const expiresAt = new Date(NOW.getTime() + hour);
    await harness.load([
      attributeRecord('ja3', 'a'.repeat(32), { expiresAt }),
      attributeRecord('ja3', 'b'.repeat(32)),
    ]);
    const listed = async () => linesOf((await archive('suricata?style=datasets')).files, 'tipline-ja3.lst');
    expect(await listed()).toHaveLength(2);
    harness.clock.now = new Date(NOW.getTime() + 2 * hour);
    expect(await listed()).toHaveLength(1);
  });

  it('of a block list for Snort has every address in it', async () => {
    await loadMany(300);
    const { files } = await archive('snort?style=reputation');
    expect(new Set(linesOf(files, 'tipline.blocklist')).size).toBe(300);
  });

  it('answers the same bytes and a 304 while nothing changes', async () => {
    await loadMany(5);
    const first = (await archive('suricata?style=datasets')).answer;
    const second = (await archive('suricata?style=datasets')).answer;
    expect(second.rawPayload.equals(first.rawPayload)).toBe(true);
    const headers = { 'if-none-match': String(first.headers.etag) };
    expect((await harness.get('/api/v1/exports/suricata?style=datasets', { headers })).statusCode).toBe(304);
  });

  it('has the JA3 fingerprints of its reports, or all, but none above the ceiling or not for detection', async () => {
    await harness.load([
      indicatorRecord('DOMAIN', 'evil.example', { externalIds: ['i:1'], tags: ['reported'] }),
      indicatorRecord('DOMAIN', 'other.example', { tags: ['single'] }),
      reportRecord('A report', { externalIds: ['r:1'] }),
      attributeRecord('ja3-fingerprint-md5', JA3[0] ?? '', { externalIds: ['a:0'] }),
      attributeRecord('ja3', (JA3[1] ?? '').toUpperCase(), { externalIds: ['a:1'], tlp: 'RED' }),
      attributeRecord('ja3', JA3[2] ?? '', { externalIds: ['a:2'], forDetection: false }),
      attributeRecord('ja3', 'not a hash', { externalIds: ['a:3'] }),
      relationshipRecord('r:1', 'refers-to', 'i:1'),
      relationshipRecord('r:1', 'refers-to', 'a:0'),
    ]);
    const fingerprints = async (query: string, key?: string) =>
      linesOf((await archive(`suricata?style=datasets${query}`, key)).files, 'tipline-ja3.lst').map((line) =>
        Buffer.from(line, 'base64').toString(),
      );
    expect(await fingerprints('')).toEqual([JA3[0], JA3[1]]);
    expect(await fingerprints('', await harness.newKey({ tlpCeiling: 'AMBER' }))).toEqual([JA3[0]]);
    expect(await fingerprints('&tag=reported')).toEqual([JA3[0]]);
    expect(await fingerprints('&tag=single')).toEqual([]);
  });

  it('for Suricata 8 has the verdict, and changes with it', async () => {
    await harness.load([indicatorRecord('DOMAIN', 'evil.example', { confidence: 90 })]);
    const etagAndLine = async () => {
      const { answer, files } = await archive('suricata?style=datasets-ndjson');
      return [answer.headers.etag, JSON.parse(linesOf(files, 'tipline-names.ndjson')[0] ?? '').verdict];
    };
    const [before, unknown] = await etagAndLine();
    // A score that does not change the confidence, as where it is pinned.
    await harness.db.transaction().execute(async (trx) => {
      await trx
        .insertInto('enrichment')
        .values({
          indicator_id: indicatorId('DOMAIN', 'evil.example'),
          provider: 'otx',
          verdict: 'BENIGN',
          score: 10,
          fetched_at: NOW,
          expires_at: NOW,
          error: null,
          raw: '{}',
          revision: 1,
        })
        .execute();
      await trx
        .updateTable('revision')
        .set(({ eb }) => ({ value: eb('value', '+', 1) }))
        .execute();
    });
    const [after, benign] = await etagAndLine();
    expect([unknown, benign]).toEqual(['UNKNOWN', 'BENIGN']);
    expect(after).not.toBe(before);
  });

  it.each([
    ['suricata?style=reputation', 'style for format suricata is datasets or datasets-ndjson.'],
    ['snort?style=datasets', 'style for format snort is reputation.'],
    ['csv?style=datasets', 'style is for format snort or suricata or txt only.'],
    ['txt?style=datasets&type=DOMAIN', /^style for format txt is plain or /],
  ])('rejects %s', async (query, message) => {
    const answer = await harness.get(`/api/v1/exports/${query}`);
    expect([answer.statusCode, answer.json().error]).toEqual([400, expect.stringMatching(message)]);
  });
});
