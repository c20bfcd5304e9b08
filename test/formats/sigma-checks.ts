import { expect } from 'vitest';
import { parse } from 'yaml';

export interface SigmaRule {
  title: string;
  id: string;
  date: string;
  modified?: string;
  tags: string[];
  logsource: { category: string; product?: string };
  detection: Record<string, unknown>;
  level: string;
}

const KEYS = [
  'title',
  'id',
  'status',
  'description',
  'references',
  'author',
  'date',
  'modified',
  'tags',
  'logsource',
  'detection',
  'falsepositives',
  'level',
];

/** Printable (YAML 1.2, §5.1), and seen: no joiners, no changes of direction. */
const VISIBLE = /^[\n\P{C}]*$/u;

/** The patterns of a selection, whatever its field; none when there is no such selection. */
export function patternsOf(detection: Record<string, unknown>, selection: string): unknown[] {
  const fields = detection[selection];
  return typeof fields === 'object' && fields !== null ? Object.values(fields).flat() : [];
}

/** What backends and SigmaHQ's checks want of a bundle's rules. */
export function expectSound(documents: readonly string[]): void {
  const rules = documents.map((text): SigmaRule => parse(text));
  for (const [index, rule] of rules.entries()) {
    expect(documents[index]).toMatch(VISIBLE);
    expect(parse(documents[index] ?? '', { version: '1.1', schema: 'core' })).toEqual(rule);
    expectRule(rule);
  }
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  expect(new Set(rules.map(({ title }) => title)).size).toBe(rules.length);
}

function expectRule(rule: SigmaRule): void {
  expect(Object.keys(rule)).toEqual(KEYS.filter((key) => key !== 'modified' || rule.modified !== undefined));
  expect(rule.title.length).toBeLessThanOrEqual(120);
  expect(rule.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  for (const date of [rule.date, rule.modified ?? rule.date]) expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
  if (rule.modified !== undefined) expect(rule.modified > rule.date).toBe(true);
  for (const tag of rule.tags) expect(tag).toMatch(/^(?:attack|tlp)\.[a-z0-9.-]+$/);
  expect(new Set(rule.tags).size).toBe(rule.tags.length);
  expect(['informational', 'low', 'medium', 'high', 'critical']).toContain(rule.level);
  expectDetection(rule.detection);
}

function expectDetection({ condition, ...selections }: Record<string, unknown>): void {
  expect(condition).toBe('1 of selection_*');
  expect(Object.keys(selections).length).toBeGreaterThan(0);
  let count = 0;
  for (const selection of Object.keys(selections)) {
    expect(selection).toMatch(/^selection_[a-z0-9_]+$/);
    const patterns = patternsOf(selections, selection);
    expect(patterns.length).toBeGreaterThan(0);
    count += patterns.length;
    for (const pattern of patterns) expectPattern(pattern);
    expect(new Set(patterns.map((pattern) => String(pattern).toLowerCase())).size).toBe(patterns.length);
  }
  expect(count).toBeLessThanOrEqual(500);
}

/** Text, and not a wildcard alone. */
function expectPattern(pattern: unknown): void {
  expect(pattern).toBeTypeOf('string');
  expect(String(pattern)).toMatch(/[^*]/);
}
