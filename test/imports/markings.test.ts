import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Importer } from '../../src/importers/importer.ts';
import { mispImporter } from '../../src/importers/misp.ts';
import type { Tlp } from '../../src/model/vocabulary.ts';
import { inputOf, runImporter } from '../importers/run-importer.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { actorRecord } from '../support/records.ts';

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const STATED = '1779000000'; // 2026-05-17

onEveryEngine((engine) => {
  let tipline: Harness;
  let green: string;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    green = await tipline.newKey({ tlpCeiling: 'GREEN' });
  });
  afterEach(() => tipline.close());

  async function importFile(importer: Importer, content: object, tlp: Tlp, source = 'Source') {
    const { records } = await runImporter(importer, inputOf(JSON.stringify(content)));
    await tipline.load(records, source, { tlp });
  }

  const json = async (path: string, key?: string) =>
    (await tipline.get(`/api/v1${path}`, key === undefined ? {} : { key })).json();

  describe('a MISP attribute for a wider audience than its event', () => {
    const attribute = (tag: string) => ({
      uuid: uuid(10),
      type: 'domain',
      value: 'released-ioc.example.net',
      to_ids: true,
      timestamp: STATED,
      Tag: [{ name: tag }],
    });
    const event = (tags: string[], tag: string) => ({
      Event: {
        uuid: uuid(1),
        info: 'Incident at Example Corp',
        date: '2026-04-20',
        timestamp: STATED,
        threat_level_id: '1',
        Tag: [...tags, 'victim:example-corp', 'misp-galaxy:threat-actor="Alpha Group"'].map((name) => ({
          name,
        })),
        Attribute: [attribute(tag)],
      },
    });

    it.each([
      ['a RED event', ['tlp:red'], 'tlp:green'],
      ['an event without a TLP, of an AMBER source', [], 'tlp:clear'],
    ])('discloses nothing of %s', async (_, tags, tag) => {
      await tipline.load([actorRecord('Alpha Group', { tlp: 'GREEN' })], 'Actors');
      await importFile(mispImporter, event(tags, tag), 'AMBER');
      const { data } = await json('/indicators', green);
      expect(data).toEqual([
        expect.objectContaining({
          value: 'released-ioc.example.net',
          severity: 'MEDIUM',
          tags: [],
          firstSeen: '2026-05-17T06:40:00.000Z',
        }),
      ]);
      const path = `/indicators/${data[0].id}/context`;
      expect(await json(path, green)).toMatchObject({ actors: [], reports: [] });
      const { actors, reports } = await json(path);
      expect(actors).toMatchObject([{ name: 'Alpha Group' }]);
      expect(reports).toMatchObject([{ title: 'Incident at Example Corp' }]);
    });
  });
});
