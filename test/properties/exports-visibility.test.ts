import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FORMAT_NAMES, type FormatName } from '../../src/formats/catalogue.ts';
import { MISP_GROUPS } from '../../src/formats/format.ts';
import { TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { runs } from './runs.ts';
import { filtersOf, wishes } from './wishes.ts';
import { type World, worlds } from './world.ts';
import { listedIndicators, seen } from './world-model.ts';
import { replaceWorld } from './world-rows.ts';

/** How a hidden value might stand in a format: as it is, as JSON writes it, and in the alphabet of rules. */
function spellings(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1)];
}

function hiddenTexts(world: World, visible: ReadonlySet<string>): string[] {
  const indicators = world.indicators.filter(({ id }) => !visible.has(id));
  const shown = new Set(world.indicators.filter(({ id }) => visible.has(id)).map(({ value }) => value));
  const entities = [...world.actors, ...world.campaigns, ...world.techniques, ...world.software];
  // Their names are of one only.
  const texts = [...world.reports, ...world.attributes].filter(({ id }) => !visible.has(id));
  return [
    ...indicators.map(({ id }) => id),
    ...indicators.filter(({ value }) => !shown.has(value)).flatMap(({ value }) => spellings(value)),
    ...entities.filter(({ id }) => !visible.has(id)).map(({ id }) => id),
    ...texts.flatMap(({ id, name }) => [id, ...spellings(name)]),
  ];
}

/** Every format, those with context also with it and by group. */
const VARIANTS: [FormatName, [string, string][]][] = [
  ...FORMAT_NAMES.map((format): [FormatName, [string, string][]] => [
    format,
    ['stix', 'misp'].includes(format) ? [['include', 'context']] : [],
  ]),
  [
    'stix',
    [
      ['include', 'context'],
      ['ids', 'original'],
    ],
  ],
  ...MISP_GROUPS.map((group): [FormatName, [string, string][]] => [
    'misp',
    [
      ['group', group],
      ['ids', 'original'],
    ],
  ]),
];

onEveryEngine((engine) => {
  let harness: Harness;
  const keys = new Map<Tlp, string>();
  beforeAll(async () => {
    harness = await startHarness(engine);
    for (const tlpCeiling of TLPS) keys.set(tlpCeiling, await harness.newKey({ tlpCeiling }));
  });
  afterAll(() => harness.close());

  it('exports report the visible total and nothing hidden in every format; ndjson equals the list', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, fc.array(wishes, { minLength: 1, maxLength: 3 }), async (world, wanted) => {
        await replaceWorld(harness.db, world);
        harness.clock.now = world.now;
        const key = keys.get(world.ceiling) ?? '';
        const view = seen(world);
        const hidden = hiddenTexts(world, view.visibleIds);
        for (const wish of wanted) {
          const filters = filtersOf(wish, world);
          const texts = Object.entries(filters).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]);
          const listed = listedIndicators(view, filters);
          for (const [format, options] of VARIANTS) {
            const query = new URLSearchParams([...texts, ...options, ['format', format]]);
            const answer = await harness.get(`/api/v1/indicators?${query}`, { key });
            expect(answer.statusCode, `${format} ${answer.body}`).toBe(200);
            expect(answer.headers['x-total-count'], format).toBe(String(listed.length));
            // What was asked for may be told in the file.
            const asked = [...query.values()].join('\n');
            const leaked = hidden.filter((text) => answer.body.includes(text) && !asked.includes(text));
            expect(leaked, format).toEqual([]);
            if (format !== 'ndjson') continue;
            const ids = answer.body
              .split('\n')
              .filter(Boolean)
              .map((line) => JSON.parse(line).id);
            expect(ids).toEqual(listed.map(({ id }) => id));
          }
        }
      }),
      runs(4),
    );
  });
});
