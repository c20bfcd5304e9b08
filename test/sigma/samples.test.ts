import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruledTechniques, rulesOf } from '../../src/sigma/technique-rules.ts';
import type { LogSource } from './log-sources.ts';
import { compile, type Detection, type LogEvent } from './sigma-match.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8'));

const rules = ruledTechniques()
  .flatMap(rulesOf)
  .map(({ text }) => parse(text) as { title: string; logsource: LogSource; detection: Detection })
  .map(({ title, logsource, detection }) => ({ title, logsource, matches: compile(detection) }));

const isOf = ({ product, category, service }: LogSource, source: LogSource) =>
  product === source.product &&
  (category === undefined || category === source.category) &&
  (service === undefined || service === source.service);

const attacks = read('attacks.json') as { rule: string; event: LogEvent }[];
const background = read('background.json') as { logsource: LogSource; event: LogEvent }[];

describe('on recorded logs', () => {
  it.each(attacks)('"$rule" finds its attack', ({ rule, event }) => {
    expect(rules.find(({ title }) => title === rule)?.matches(event)).toBe(true);
  });

  it.each(background)('no rule finds anything in $event', ({ logsource, event }) => {
    const found = rules.filter((rule) => isOf(rule.logsource, logsource) && rule.matches(event));
    expect(found.map(({ title }) => title)).toEqual([]);
  });

  it('there are rules and events of every category that the recordings have', () => {
    expect(new Set(attacks.map(({ rule }) => rule)).size).toBeGreaterThan(40);
    expect(new Set(background.map(({ logsource }) => JSON.stringify(logsource))).size).toBeGreaterThan(15);
  });
});
