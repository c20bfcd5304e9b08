import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImportInput } from '../../src/importers/importer.ts';
import { mispImporter } from '../../src/importers/misp.ts';
import { stixImporter } from '../../src/importers/stix.ts';
import { normalize } from '../../src/model/normalize.ts';
import { INDICATOR_TYPES } from '../../src/model/vocabulary.ts';
import { ofKind, runImporter } from '../importers/run-importer.ts';
import { EMBEDDED } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { REAL_DATA } from '../support/real-data.ts';

/** Why an attribute or object comes back otherwise, or not at all; docs/formats.md explains each. */
const REASONS = ['composite', 'normalized', 'rejected', 'repeated', 'deleted'] as const;
type Reason = (typeof REASONS)[number];

interface Attribute {
  uuid: string;
  type: string;
  category: string;
  value: string;
  comment: string;
  to_ids: boolean;
  deleted?: boolean;
  object_relation?: string;
}

interface Event {
  uuid: string;
  info: string;
  date: string;
  Tag?: { name: string }[];
  Attribute: Attribute[];
  Object?: { uuid: string; name: string; comment?: string; Attribute: Attribute[] }[];
  EventReport?: { uuid: string; content: string; deleted?: boolean }[];
}

const filesIn = (...folders: string[]) =>
  existsSync(REAL_DATA)
    ? folders
        .flatMap((folder) => readdirSync(`${REAL_DATA}/${folder}`).map((file) => `${folder}/${file}`))
        .sort()
    : [];

const inputOf = (file: string): ImportInput => ({
  fileName: file,
  open: () => createReadStream(`${REAL_DATA}/${file}`),
});

async function readJson(file: string): Promise<unknown> {
  let text = '';
  for await (const chunk of createReadStream(`${REAL_DATA}/${file}`, 'utf8')) text += chunk;
  return JSON.parse(text);
}

/** All attributes of an event by uuid, with the object that each is part of. */
function attributesOf(event: Event): Map<string, Attribute & { object: string }> {
  const parts = (event.Object ?? []).flatMap((object) =>
    object.Attribute.map((one) => ({
      ...one,
      object: `${object.name} ${object.uuid} ${(object.comment ?? '').trim()}`,
    })),
  );
  const all = [...event.Attribute.map((one) => ({ ...one, object: '' })), ...parts];
  return new Map(all.map((one) => [one.uuid, one]));
}

const isSameValue = (a: string, b: string) =>
  INDICATOR_TYPES.some((type) => {
    const [left, right] = [normalize(type, a), normalize(type, b)];
    return !('rejected' in left) && !('rejected' in right) && left.normalized === right.normalized;
  });

describe.skipIf(!existsSync(REAL_DATA))('a round trip of real data', () => {
  let harness: Harness;
  const losses: Partial<Record<Reason, number>> = {};
  const lose = (reason: Reason) => {
    losses[reason] = (losses[reason] ?? 0) + 1;
  };
  beforeAll(async () => void (harness = await startHarness(EMBEDDED)));
  afterAll(() => harness.close());

  it.each(
    filesIn('misp/events', 'misp/feed-tweetfeed').filter(
      (file) => file.endsWith('.json') && !file.endsWith('manifest.json'),
    ),
  )('of %s loses nothing unnamed', async (file) => {
    const { records } = await runImporter(mispImporter, inputOf(file));
    await harness.load(records, file);
    const content = (await readJson(file)) as { Event?: Event; response?: { Event: Event }[] };
    const [given] = content.response?.map(({ Event }) => Event) ?? [content.Event as Event];
    const source = await harness.db
      .selectFrom('source')
      .select('id')
      .where('name', '=', file)
      .executeTakeFirstOrThrow();
    const sent = await harness.get('/api/v1/exports/misp?group=report&ids=original');
    const { response } = sent.json<{ response: { Event: Event }[] }>();
    const event = response.map(({ Event }) => Event).find(({ uuid }) => uuid === given?.uuid);
    if (!given || !event) throw new Error(`no event of ${source.id}`);
    expect([event.info, event.date]).toEqual([given.info.trim(), given.date]);
    const back = attributesOf(event);
    const rejected = new Set(
      ofKind(records, 'rejected').map(({ where }) => /\(([0-9a-f-]{36})\)$/.exec(where)?.[1]),
    );
    const missing: Attribute[] = [];
    for (const one of attributesOf(given).values()) {
      const returned = back.get(one.uuid);
      const parts = one.value.split('|');
      if (returned !== undefined) {
        expect({ ...pick(returned), value: '' }).toEqual({ ...pick(one), value: '' });
        if (returned.value !== one.value.trim()) lose('normalized');
        expect(returned.value === one.value.trim() || isSameValue(returned.value, one.value)).toBe(true);
      } else if (one.deleted) lose('deleted');
      else if (rejected.has(one.uuid)) lose('rejected');
      else if (one.type.includes('|')) lose('composite');
      else if ([...back.values()].some(({ value }) => value === one.value || isSameValue(value, one.value)))
        lose('repeated');
      else missing.push({ ...one, value: parts.join('|') });
    }
    expect(missing).toEqual([]);
    const texts = (given.EventReport ?? [])
      .filter(({ deleted }) => !deleted)
      .map(({ content: text }) => text.trim());
    expect((event.EventReport ?? []).map(({ content: text }) => text).sort()).toEqual(texts.sort());
  });

  it('loses as many as documented', () => {
    expect(losses).toMatchInlineSnapshot(`
      {
        "composite": 292,
        "normalized": 2119,
        "rejected": 15,
        "repeated": 8,
      }
    `);
  });

  it.each(filesIn('stix20', 'stix21').filter((file) => !file.includes('manifest')))(
    'of %s gives back names, descriptions, phases, rules and reports',
    async (file) => {
      const { records } = await runImporter(stixImporter, inputOf(file));
      await harness.load(records, file);
      const sent = await harness.get('/api/v1/exports/stix?include=context');
      const back = await runImporter(stixImporter, {
        fileName: 'export',
        open: () => Readable.from([Buffer.from(sent.body)]),
      });
      const said = new Map(
        ofKind(back.records, 'indicator').map((one) => [
          `${one.type} ${one.normalized}`,
          JSON.stringify(one.records),
        ]),
      );
      for (const { type, normalized, records: own = [] } of ofKind(records, 'indicator')) {
        const text = said.get(`${type} ${normalized}`) ?? '';
        for (const { name, description, killChainPhases } of own)
          for (const part of [name, description, killChainPhases])
            if (part !== undefined) expect(text).toContain(JSON.stringify(part));
      }
      const reports = new Map(
        ofKind(back.records, 'report').flatMap((one) => one.externalIds.map((id) => [id, one] as const)),
      );
      for (const { externalIds, title, description, authors, links, publishedAt } of ofKind(
        records,
        'report',
      )) {
        // A report without an indicator is in no export of indicators.
        const one = reports.get(externalIds[0] ?? '');
        if (one !== undefined) expect(one).toMatchObject({ title, description, authors, links, publishedAt });
      }
    },
  );
});

function pick({ type, category, comment, to_ids, object_relation, object }: Attribute & { object: string }) {
  return { type, category, comment: comment.trim(), to_ids, relation: object_relation ?? null, object };
}
