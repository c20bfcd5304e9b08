import { describe, expect, it } from 'vitest';
import { splitLine } from '../../src/importers/csv-rows.ts';
import { parseDate, parseUsDate } from '../../src/importers/dates.ts';
import type { Importer } from '../../src/importers/importer.ts';
import { tlpOfTag } from '../../src/importers/markings.ts';
import { IMPORTERS, recognizeFormat } from '../../src/importers/recognize.ts';
import { printable } from '../../src/importers/record-fields.ts';
import { parsePattern } from '../../src/importers/stix-pattern.ts';
import { tokenize } from '../../src/importers/stix-pattern-tokens.ts';
import { readTextLine } from '../../src/importers/text.ts';
import { LONG, steepGrowth, steepOnes, upTo } from '../support/growth.ts';
import { inputOf, runImporter } from './run-importer.ts';

const ID = '11111111-1111-4111-8111-';
const uuid = (n: number) => ID + n.toString(16).padStart(12, '0');
const many = <T>(count: number, one: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => one(n));
const stix = (objects: unknown[]) => ({ type: 'bundle', id: `bundle--${uuid(0)}`, objects });
const indicator = (n: number, fields = {}) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${uuid(n)}`,
  created: '2024-01-01T00:00:00.000Z',
  modified: '2024-01-01T00:00:00.000Z',
  valid_from: '2024-01-01T00:00:00Z',
  pattern_type: 'stix',
  pattern: `[domain-name:value = 'a${n}.example.net']`,
  ...fields,
});
const event = (fields: object) => ({ Event: { uuid: uuid(0), info: 'i', date: '2024-01-01', ...fields } });
const attribute = (n: number) => ({
  uuid: uuid(n),
  type: 'domain',
  value: `a${n}.example.net`,
  to_ids: true,
});

/** Documents of a size: many records, and one record with much in it. */
const DOCUMENTS: [string, string, (n: number) => unknown][] = [
  ['stix', 'indicators', (n) => stix(many(n, indicator))],
  ['stix', 'labels', (n) => stix([indicator(0, { labels: many(n, (i) => `l${i}`) })])],
  [
    'stix',
    'references',
    (n) =>
      stix([
        indicator(0, {
          external_references: many(n, (i) => ({ source_name: `s${i}`, external_id: `${i}` })),
        }),
      ]),
  ],
  [
    'stix',
    'markings',
    (n) => stix([indicator(0, { object_marking_refs: many(n, (i) => `marking-definition--${uuid(i)}`) })]),
  ],
  [
    'stix',
    'types beside values',
    (n) => {
      const type = "network-traffic:dst_ref.type = 'ipv4-addr'";
      const value = "domain-name:value = 'a.example.net'";
      return stix([
        indicator(0, {
          pattern: `[${[...many(n, () => type), ...many(n, () => value)].join(' AND ')}] OR [${value}]`,
        }),
      ]);
    },
  ],
  [
    'stix',
    'alternatives',
    (n) =>
      stix([
        indicator(0, {
          pattern: `[${many(n, (i) => `ipv4-addr:value = '1.${i >> 16}.${(i >> 8) & 255}.${i & 255}'`).join(' OR ')}]`,
        }),
      ]),
  ],
  [
    'stix',
    'aliases',
    (n) =>
      stix([
        {
          type: 'intrusion-set',
          id: `intrusion-set--${uuid(1)}`,
          name: 'A',
          aliases: many(n, (i) => `b ${i}`),
        },
      ]),
  ],
  [
    'stix',
    'objects of a report',
    (n) =>
      stix([
        ...many(n, indicator),
        {
          type: 'report',
          id: `report--${uuid(n)}`,
          name: 'r',
          published: '2024-01-01T00:00:00Z',
          object_refs: many(n, (i) => `indicator--${uuid(i)}`),
        },
      ]),
  ],
  ['misp', 'attributes', (n) => event({ Attribute: many(n, attribute) })],
  [
    'misp',
    'objects',
    (n) => event({ Object: many(n, (i) => ({ uuid: uuid(i), name: 'file', Attribute: [attribute(i)] })) }),
  ],
  ['misp', 'tags', (n) => event({ Tag: many(n, (i) => ({ name: `t${i}` })), Attribute: [attribute(1)] })],
  [
    'misp',
    'clusters',
    (n) =>
      event({
        Galaxy: [
          {
            type: 'threat-actor',
            GalaxyCluster: many(n, (i) => ({ uuid: uuid(i), value: `A${i}`, type: 'threat-actor' })),
          },
        ],
        Attribute: [attribute(1)],
      }),
  ],
  [
    'galaxy',
    'values',
    (n) => ({
      type: 'threat-actor',
      uuid: uuid(0),
      name: 'g',
      values: many(n, (i) => ({ uuid: uuid(i), value: `A ${i}` })),
    }),
  ],
  [
    'galaxy',
    'synonyms',
    (n) => ({
      type: 'threat-actor',
      uuid: uuid(0),
      name: 'g',
      values: [{ uuid: uuid(1), value: 'A', meta: { synonyms: many(n, (i) => `b ${i}`) } }],
    }),
  ],
  [
    'otx',
    'indicators',
    (n) => ({
      results: [
        {
          id: 'p',
          name: 'n',
          indicators: many(n, (i) => ({ indicator: `a${i}.example.net`, type: 'domain' })),
        },
      ],
    }),
  ],
  [
    'otx',
    'tags',
    (n) => ({
      results: [
        {
          id: 'p',
          name: 'n',
          tags: many(n, (i) => `t${i}`),
          indicators: [{ indicator: 'a.example.net', type: 'domain' }],
        },
      ],
    }),
  ],
  [
    'kev',
    'vulnerabilities',
    (n) => ({
      vulnerabilities: many(n, (i) => ({ cveID: `CVE-2024-${10_000 + i}`, dateAdded: '2024-01-01' })),
    }),
  ],
];
const COUNTS = upTo(4_096);
describe('reading a document takes time linear in its size', LONG, () => {
  it.each(DOCUMENTS)('%s with many %s', async (name, _, of) => {
    const importer = IMPORTERS.find((one) => one.name === name) as Importer;
    const few = await runImporter(importer, inputOf(JSON.stringify(of(8))));
    expect(few.unreadable).toBeNull();
    expect(few.records.filter(({ kind }) => kind !== 'rejected')).not.toEqual([]);
    const growth = await steepGrowth((size) => {
      const text = JSON.stringify(of(size));
      return () => runImporter(importer, inputOf(text));
    }, COUNTS);
    expect(growth).toBeNull();
  });
});

describe('a repetitive file takes linear time', LONG, () => {
  const FILE_SIZES = upTo(16_384);
  const NOTHING_AROUND = [['', '']] as const;

  it.each(IMPORTERS.map((importer) => [importer.name, importer] as const))(
    'imported as %s',
    async (_, importer) => {
      const read = (text: string) => runImporter(importer, inputOf(text));
      expect(await steepOnes(read, FILE_SIZES, NOTHING_AROUND)).toEqual([]);
    },
  );

  it('when its format is detected', async () => {
    const recognize = (text: string) => recognizeFormat(inputOf(text)).catch(() => null);
    expect(await steepOnes(recognize, FILE_SIZES, NOTHING_AROUND)).toEqual([]);
  });
});

describe('parsing a text takes time linear in its length', LONG, () => {
  it.each<[string, (text: string) => unknown]>([
    ['tokens of a pattern', tokenize],
    ['pattern', parsePattern],
    ['pattern of one comparison', (text) => parsePattern(`[file:name = '${text}']`)],
    ['date', parseDate],
    ['American date', parseUsDate],
    ['tag', tlpOfTag],
    ['printable name', printable],
    ['line', (text) => readTextLine(text, null)],
    ['rows of CSV', (text) => splitLine(text, ',')],
    ['a quoted cell of CSV', (text) => splitLine(`"${text}"`, ',')],
  ])('%s', async (_, run) => {
    expect(await steepOnes(run)).toEqual([]);
  });
});
