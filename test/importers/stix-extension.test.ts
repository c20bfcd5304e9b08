import { describe, expect, it } from 'vitest';
import { stixImporter } from '../../src/importers/stix.ts';
import { TIPLINE_EXTENSION } from '../../src/model/identity.ts';
import { inputOf, ofKind, runImporter } from './run-importer.ts';

const SEEN = '2026-05-01T08:00:00.000Z';
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const recordsOf = async (fields: object, properties: object = {}) => {
  const object = {
    ...{ type: 'indicator', spec_version: '2.1', id: `indicator--${uuid(1)}`, created: SEEN, modified: SEEN },
    ...{ pattern: "[domain-name:value = 'bad.example']", pattern_type: 'stix', valid_from: SEEN },
    extensions: { [TIPLINE_EXTENSION]: { extension_type: 'property-extension', ...properties } },
    ...fields,
  };
  const text = JSON.stringify({ type: 'bundle', id: `bundle--${uuid(0)}`, objects: [object] });
  return (await runImporter(stixImporter, inputOf(text, 'file.json'))).records;
};
const indicatorOf = async (fields: object, properties?: object) =>
  ofKind(await recordsOf(fields, properties), 'indicator')[0];

describe("an object with Tipline's STIX extension", () => {
  it('carries the fields that STIX lacks', async () => {
    const properties = {
      severity: 'critical',
      last_seen: '2026-05-20T00:00:00.000Z',
      expires_at: '2026-04-01T00:00:00.000Z',
      for_detection: false,
    };
    expect(await indicatorOf({}, properties)).toMatchObject({
      severity: 'CRITICAL',
      firstSeen: new Date(SEEN),
      lastSeen: new Date('2026-05-20'),
      expiresAt: new Date('2026-04-01'),
      forDetection: false,
    });
  });

  it('is tagged only with its labels', async () => {
    const fields = { labels: ['phishing'], indicator_types: ['malicious-activity'] };
    expect((await indicatorOf(fields))?.tags).toEqual(['phishing']);
    expect((await indicatorOf({ ...fields, extensions: undefined }))?.tags).toEqual([
      'phishing',
      'malicious-activity',
    ]);
  });

  it('keeps its external ids', async () => {
    const external_references = [
      { source_name: 'stix', external_id: `indicator--${uuid(2)}` },
      { source_name: 'cve', external_id: 'CVE-2021-44228' },
      { source_name: 'misp-galaxy', external_id: 'misp-galaxy:threat-actor="Example"' },
      { source_name: 'stix', external_id: 'x'.repeat(513) },
    ];
    expect((await indicatorOf({ external_references }))?.externalIds).toEqual([
      `indicator--${uuid(1)}`,
      `indicator--${uuid(2)}`,
      'misp-galaxy:threat-actor="Example"',
    ]);
  });

  it('may be a vulnerability', async () => {
    const fields = {
      type: 'vulnerability',
      id: `vulnerability--${uuid(1)}`,
      name: 'CVE-2021-44228',
      valid_from: undefined,
    };
    const firstSeen = '2021-12-10T00:00:00.000Z';
    expect(await indicatorOf(fields, { first_seen: firstSeen, severity: 'high' })).toMatchObject({
      type: 'CVE',
      severity: 'HIGH',
      firstSeen: new Date(firstSeen),
    });
  });

  it('has no last sighting before the first', async () => {
    const [first, last] = ['2026-03-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];
    expect(await indicatorOf({}, { first_seen: first, last_seen: last })).toMatchObject({
      firstSeen: new Date(first),
      lastSeen: new Date(first),
    });
  });

  it('is rejected when a date in it cannot be parsed', async () => {
    expect(await recordsOf({}, { last_seen: 'yesterday' })).toMatchObject([
      { kind: 'rejected', reason: 'date not readable: last_seen' },
    ]);
  });

  it('ignores invalid or absent extension values', async () => {
    expect(await indicatorOf({}, { severity: 'dreadful', for_detection: 'maybe' })).toMatchObject({
      severity: null,
      forDetection: true,
      lastSeen: new Date(SEEN),
    });
  });
});
