import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruledTechniques, rulesOf } from '../../src/sigma/technique-rules.ts';
import { compile, type Detection, type LogEvent } from './sigma-match.ts';

interface Rule {
  title: string;
  detection: Detection;
}

/** What a rule must find, and what comes near it and happens every day. */
interface Events {
  fires: LogEvent[];
  silent: LogEvent[];
}

const DIRECTORY = new URL('events/', import.meta.url);

/** The events by the rules' titles; the files have the names of the rules' files. */
const eventsOf = (id: string) =>
  parse(readFileSync(new URL(`${id}.yml`, DIRECTORY), 'utf8')) as Record<string, Events>;

const files = ruledTechniques().map((id) => ({
  id,
  rules: rulesOf(id).map(({ text }) => parse(text) as Rule),
}));

it('every file of events is of a file of rules', () => {
  expect(readdirSync(DIRECTORY).sort()).toEqual(files.map(({ id }) => `${id}.yml`).sort());
});

describe.each(files)('$id', ({ id, rules }) => {
  const events = eventsOf(id);

  it('has events for each rule', () => {
    expect(Object.keys(events)).toEqual(rules.map(({ title }) => title));
  });

  describe.each(rules)('$title', ({ title, detection }) => {
    const matches = compile(detection);
    const { fires, silent } = events[title] ?? { fires: [], silent: [] };

    it('has events that it finds and events that it does not', () => {
      expect(Math.min(fires.length, silent.length)).toBeGreaterThan(0);
    });

    it.each(fires)('finds %j', (event) => {
      expect(matches(event)).toBe(true);
    });

    it.each(silent)('does not find %j', (event) => {
      expect(matches(event)).toBe(false);
    });
  });
});
