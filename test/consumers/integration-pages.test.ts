import { describe, expect, it } from 'vitest';
import { PRESET_NAMES } from '../../src/feeds/presets.ts';
import { commandsOf, productPages } from '../support/integration-pages.ts';
import { RUN_BY_TESTS } from './run-pages.ts';

/** How a page may have been checked. */
const CHECKED = [
  'run by the tests',
  'run by hand: ',
  "replayed from the consumer's source",
  "written from the consumer's source",
  'written from its documentation only',
];

const pages = productPages();

describe('the pages of docs/integrations', () => {
  it.each(pages)('$name has the frame', ({ title, facts, sections, text }) => {
    expect(title).not.toBe('');
    expect([...facts.keys()]).toEqual(['Versions', 'Reads', 'Key', 'Checked']);
    expect(sections).toEqual(['Steps', 'Check that it works', 'How to stop']);
    expect(text).toMatch(/keys revoke [\w-]+/);
  });

  it.each(pages)('$name says how it was checked', ({ facts }) => {
    const checked = facts.get('Checked') ?? '';
    expect(CHECKED.filter((way) => checked.startsWith(way))).toHaveLength(1);
  });

  it('say of those that a test carries out that they are run by the tests, and of no other', () => {
    const run = pages.filter(({ facts }) => facts.get('Checked')?.startsWith('run by the tests'));
    expect(run.map(({ name }) => name).sort()).toEqual(Object.keys(RUN_BY_TESTS).sort());
  });

  it.each(pages)('$name stops with the key that it made', (page) => {
    const made = commandsOf(page).flatMap((command) => /keys create --name (\S+)/.exec(command)?.[1] ?? []);
    expect(made.length).toBeGreaterThan(0);
    expect(page.text).toContain(`keys revoke ${made[0]}`);
  });

  it.each(PRESET_NAMES)('name the preset %s', (preset) => {
    expect(
      pages.filter(({ text }) => text.includes(`\`${preset}\``) || text.includes(`--preset ${preset} `)),
    ).not.toEqual([]);
  });
});
