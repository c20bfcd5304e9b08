import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS, formatOf } from '../../src/formats/catalogue.ts';
import { sigmaRules } from '../../src/formats/sigma.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { exportIndicator, written } from './input.ts';

const SHA1 = '6ece5ece4192683d2d84e25b0ba7e04f9cb7eb7c';
const VALUES: [IndicatorType, string][] = [
  ['MD5', 'd41d8cd98f00b204e9800998ecf8427a'],
  ['SHA1', SHA1],
  ['SHA256', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85a'],
];
const rows = VALUES.map(([type, value], i) => exportIndicator(i + 1, type, value, { ofCertificate: true }));
const [, sha1] = rows;

async function exported(name: Parameters<typeof formatOf>[0], options: Partial<typeof DEFAULT_OPTIONS> = {}) {
  const skipped = new Skipped();
  const text = await written(formatOf(name, { ...DEFAULT_OPTIONS, ...options }), rows, {}, 3, skipped);
  return { text, skipped: skipped.counts };
}

describe('fingerprints of certificates', () => {
  it('are patterns on certificates in STIX, and certificates when they are not for detection', async () => {
    const patternsOf = (text: string) =>
      [...text.matchAll(/"pattern":"([^"]*)"/g)].map(([, pattern]) => pattern);
    expect(patternsOf((await exported('stix')).text).sort()).toEqual([
      `[x509-certificate:hashes.'MD5' = '${VALUES[0]?.[1]}']`,
      `[x509-certificate:hashes.'SHA-1' = '${SHA1}']`,
      `[x509-certificate:hashes.'SHA-256' = '${VALUES[2]?.[1]}']`,
    ]);
    const context = rows.map((row) => ({ ...row, forDetection: false }));
    const bundle = JSON.parse(await written(formatOf('stix', DEFAULT_OPTIONS), context));
    const types = (bundle.objects as { type: string }[]).map(({ type }) => type);
    expect(types.filter((type) => type === 'x509-certificate')).toHaveLength(3);
    expect(types).not.toContain('file');
  });

  it("have MISP's types for them", async () => {
    const { Event } = JSON.parse((await exported('misp')).text);
    const types = (Event.Attribute as { type: string; category: string }[]).map(
      ({ type, category }) => `${category}: ${type}`,
    );
    expect(types.sort()).toEqual([
      'Network activity: x509-fingerprint-md5',
      'Network activity: x509-fingerprint-sha1',
      'Network activity: x509-fingerprint-sha256',
    ]);
  });

  it('are rules on the certificate of the server in Suricata, which compares SHA-1', async () => {
    const { text } = await exported('suricata');
    const rules = text.split('\n').filter((line) => line.startsWith('alert'));
    expect(rules).toHaveLength(1);
    expect(rules[0]).toContain('tls.cert_fingerprint; content:"6e|3A|ce|3A|5e|3A|');
    expect(rules[0]).toMatch(
      /^alert tls any any -> \$HOME_NET any .*flow:established,to_client; .*bsize:59;/,
    );
  });

  it('are CERT_HASH in Zeek, which compares SHA-1', async () => {
    const { text, skipped } = await exported('zeek');
    expect(
      text
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split('\t').slice(0, 2)),
    ).toEqual([[SHA1, 'Intel::CERT_HASH']]);
    expect(skipped).toEqual({ certificate: 2 });
  });

  it('are in the fields of a server certificate in ECS', async () => {
    const documents = (await exported('ecs')).text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const one = documents.find(({ threat }) => threat.indicator.name === SHA1);
    expect(one.threat.indicator).toMatchObject({ type: 'x509-certificate' });
    expect(one.threat.indicator).not.toHaveProperty('file');
    expect(one.tls.server.hash).toEqual({ sha1: SHA1.toUpperCase() });
  });

  it.each(['fortinet', 'checkpoint', 'wazuh', 'splunk'] as const)(
    'are not on the hash lists for %s, which compare files',
    async (style) => {
      const list = { ...DEFAULT_OPTIONS.list, style, kind: 'SHA1' as const };
      const { text, skipped } = await exported('txt', { list });
      expect(text).not.toContain(SHA1);
      expect(skipped).toEqual({ certificate: 3 });
    },
  );

  it('are in no Sigma rule, which compare files', async () => {
    async function* batches() {
      yield rows;
    }
    const subject = { kind: 'actor' as const, id: String(sha1?.id), name: 'x', attackId: null };
    const now = new Date('2026-05-21');
    expect((await sigmaRules(subject, batches(), { createdAt: now, modifiedAt: now }).next()).value).toBe(3);
  });
});

describe('a rule file for Suricata', () => {
  it('counts the hashes of files', async () => {
    const skipped = new Skipped();
    const row = exportIndicator(1, 'SHA1', SHA1);
    await written(formatOf('suricata', DEFAULT_OPTIONS), [row], {}, 3, skipped);
    expect(skipped.counts).toEqual({ 'file-hash': 1 });
  });
});
