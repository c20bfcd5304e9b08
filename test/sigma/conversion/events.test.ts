import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { detectionExpression } from '../../../src/sigma/conversion/detection.ts';
import { ruledTechniques, rulesOf } from '../../../src/sigma/technique-rules.ts';
import type { LogEvent } from '../sigma-match.ts';
import { isTrue } from './expression-test.ts';

type Events = Record<string, { fires: LogEvent[]; silent: LogEvent[] }>;

describe('the expression of a technique rule', () => {
  it.each(ruledTechniques())('%s is true of the events that the rule finds, and of no other', (id) => {
    const events = parse(readFileSync(new URL(`../events/${id}.yml`, import.meta.url), 'utf8')) as Events;
    const wrong = rulesOf(id).flatMap(({ content }) => {
      const expression = detectionExpression(content.detection);
      const { fires = [], silent = [] } = events[String(content.title)] ?? {};
      expect(fires.length).toBeGreaterThan(0);
      return [
        ...fires.filter((event) => !isTrue(expression, event)),
        ...silent.filter((event) => isTrue(expression, event)),
      ];
    });
    expect(wrong).toEqual([]);
  });
});
