import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ImportRecord } from '../../src/importers/importer.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import {
  actorRecord,
  campaignRecord,
  relationshipRecord,
  softwareRecord,
  techniqueRecord,
} from '../support/records.ts';

/** One entity of each kind that an export with context holds, under these ids. */
const entities = (prefix: string): ImportRecord[] => [
  actorRecord('Bear', { externalIds: [`${prefix}-actor`] }),
  campaignRecord('Winter', { externalIds: [`${prefix}-campaign`] }),
  softwareRecord('Locker', { externalIds: [`${prefix}-software`], attackId: 'S0001' }),
  techniqueRecord('T1059', { externalIds: [`${prefix}-technique`] }),
];
const KINDS = ['actor', 'campaign', 'software', 'technique'];
const FORMATS = ['stix', 'misp'];

onEveryEngine((engine) => {
  let tipline: Harness;
  let green: string;
  let red: string;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    green = await tipline.newKey({ tlpCeiling: 'GREEN' });
    red = await tipline.newKey({ tlpCeiling: 'RED' });
    await tipline.load(
      [
        ...entities('open'),
        indicatorRecord('DOMAIN', 'evil.example', { externalIds: ['i'] }),
        ...KINDS.map((kind) => relationshipRecord('i', 'indicates', `open-${kind}`)),
      ],
      'Open',
      { tlp: 'CLEAR' },
    );
  });
  afterEach(() => tipline.close());

  const exported = (format: string, key: string, etag?: string) =>
    tipline.get(`/api/v1/exports/${format}?include=context`, {
      key,
      ...(etag && { headers: { 'if-none-match': etag } }),
    });
  const addSecret = () => tipline.load(entities('secret'), 'Secret', { tlp: 'RED' });

  it('does not reveal an external id that was stated above the TLP ceiling', async () => {
    await addSecret();
    const answers = await Promise.all([exported('stix', green), exported('stix', red)]);
    for (const kind of KINDS) {
      expect(answers.map(({ body }) => body.includes(`"open-${kind}"`))).toEqual([true, true]);
      expect(answers.map(({ body }) => body.includes(`"secret-${kind}"`))).toEqual([false, true]);
    }
  });

  it.each(FORMATS)(
    '%s stays byte-identical when data above the TLP ceiling is added to its indicators',
    async (format) => {
      const before = await exported(format, green);
      await addSecret();
      const after = await exported(format, green);
      expect([after.headers.etag, after.body]).toEqual([before.headers.etag, before.body]);
      const again = await exported(format, green, String(before.headers.etag));
      expect(again.statusCode).toBe(304);
    },
  );

  it("creates no relationship through an id above the importer's TLP ceiling", async () => {
    await addSecret();
    const link = [
      indicatorRecord('DOMAIN', 'guess.example', { externalIds: ['g'] }),
      relationshipRecord('g', 'indicates', 'secret-actor'),
    ];
    const counts = await tipline.load(link, 'Guess', { tlp: 'CLEAR' }, 'GREEN');
    expect(counts.kinds.get('relationship')).toMatchObject({ new: 0, rejected: 1 });
  });
});
