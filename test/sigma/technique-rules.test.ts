import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruledTechniques, rulesFor, rulesOf } from '../../src/sigma/technique-rules.ts';
import { sigmaSchema } from '../consumers/schemas.ts';

const isValid = sigmaSchema();

/**
 * The 80 that ATT&CK 18.1 says most groups use and that a log can show, most used first: without those that concern only
 * the attacker's own machines (PRE), and without packing, code signing, the native API, encryption and encoding of
 * traffic, fraud, and techniques whose sub-techniques have the rules.
 */
const MOST_USED = `
  T1105 T1204.002 T1059.001 T1566.001 T1059.003 T1036.005 T1071.001 T1547.001 T1082 T1053.005
  T1083 T1204.001 T1070.004 T1059.005 T1078 T1566.002 T1005 T1003.001 T1016 T1190
  T1203 T1057 T1018 T1047 T1140 T1033 T1027.013 T1560.001 T1021.001 T1574.001
  T1049 T1046 T1189 T1505.003 T1562.001 T1112 T1027.010 T1518.001 T1074.001 T1087.002
  T1133 T1056.001 T1543.003 T1021.002 T1218.011 T1059.007 T1041 T1567.002 T1555.003 T1068
  T1036.004 T1036 T1119 T1570 T1012 T1021.004 T1113 T1087.001 T1078.002 T1003.003
  T1486 T1059.006 T1218.005 T1090 T1562.004 T1571 T1135 T1564.003 T1569.002 T1102.002
  T1055 T1136.001 T1007 T1572 T1102 T1552.001 T1110 T1003.002 T1003 T1069.002`
  .trim()
  .split(/\s+/);

const KEYS = [
  'title',
  'id',
  'status',
  'description',
  'references',
  'author',
  'date',
  'tags',
  'logsource',
  'detection',
  'falsepositives',
  'level',
];

const TACTICS = [
  'reconnaissance',
  'resource-development',
  'initial-access',
  'execution',
  'persistence',
  'privilege-escalation',
  'defense-evasion',
  'credential-access',
  'discovery',
  'lateral-movement',
  'collection',
  'command-and-control',
  'exfiltration',
  'impact',
];

interface Rule {
  title: string;
  id: string;
  status: string;
  description: string;
  references: string[];
  author: string;
  date: string;
  tags: string[];
  logsource: Record<string, string>;
  detection: { condition: string } & Record<string, unknown>;
  falsepositives: string[];
  level: string;
}

const rules = ruledTechniques().flatMap((id) =>
  rulesOf(id).map(({ text }) => {
    const rule = parse(text) as Rule;
    return { id, title: rule.title, text, rule };
  }),
);

/** The names in a condition, `1 of filter_main_*` as `filter_main_*`. */
const namesIn = (condition: string) =>
  [...condition.matchAll(/[a-z_][a-z0-9_]*\*?/g)]
    .map(([name]) => name)
    .filter((name) => !['and', 'or', 'not', 'all', 'of'].includes(name));

const covers = (pattern: string, name: string) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

/** Every list and every value in a selection, however deep. */
function* inside(value: unknown): Generator<unknown> {
  yield value;
  if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) yield* inside(member);
}

const isEmpty = (value: unknown) =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

describe('technique rules', () => {
  it('exist for the most used techniques', () => {
    expect(ruledTechniques()).toEqual(expect.arrayContaining(MOST_USED));
  });

  it.each(['id', 'title'] as const)('have a unique %s', (key) => {
    expect(new Set(rules.map(({ rule }) => rule[key])).size).toBe(rules.length);
  });
});

describe.each(rules)('the rule for $id: $title', ({ id, text, rule }) => {
  const names = Object.keys(rule.detection).filter((name) => name !== 'condition');

  it('is one document with its keys in conventional order', () => {
    expect(text).not.toMatch(/^(---|\.\.\.)/m);
    expect(text.endsWith('\n')).toBe(true);
    expect(Object.keys(rule)).toEqual(KEYS);
  });

  it('has title, id, status, description, author, date and level', () => {
    expect(rule).toMatchObject({
      title: expect.stringMatching(/^(?!Detect).{10,119}[^.]$/),
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      status: expect.stringMatching(/^(stable|test|experimental)$/),
      description: expect.stringMatching(/^Detects [\s\S]{40,}\.\n?$/),
      author: 'Tipline',
      date: expect.stringMatching(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/),
      level: expect.stringMatching(/^(informational|low|medium|high|critical)$/),
    });
  });

  it('is valid by the Sigma schema', () => {
    expect(isValid(rule)).toEqual([]);
  });

  it('references its technique and at least one report', () => {
    const [technique, ...reports] = rule.references;
    expect(technique).toBe(`https://attack.mitre.org/techniques/${id.replace('.', '/')}/`);
    expect(reports.length).toBeGreaterThan(0);
    for (const link of reports) expect(link).toMatch(/^https?:\/\/(?!attack\.mitre\.org)[^\s/]+\/\S+$/);
  });

  it('is tagged with its technique and tactics, in hyphenated form', () => {
    const tactics = rule.tags.filter((tag) => TACTICS.includes(tag.replace(/^attack\./, '')));
    expect(tactics.length).toBeGreaterThan(0);
    expect(rule.tags).toEqual([...tactics, `attack.${id.toLowerCase()}`]);
  });

  it('has one log source', () => {
    expect(Object.keys(rule.logsource)).toSatisfy((keys: string[]) =>
      keys.every((key) => ['category', 'product', 'service', 'definition'].includes(key)),
    );
    expect(rule.logsource.category ?? rule.logsource.service).toMatch(/^[a-z_.-]+$/);
  });

  // An empty list or null means "the field is absent" to a backend: selecting that would match nearly everything.
  it('has no empty list, and null values only in filters', () => {
    const empty = names.filter((name) =>
      [...inside(rule.detection[name])].some((value) =>
        value === null ? name.startsWith('selection') : isEmpty(value),
      ),
    );
    expect(empty).toEqual([]);
  });

  it('has selections and excluding filters', () => {
    expect(names.filter((name) => name.startsWith('selection'))).not.toEqual([]);
    expect(names.filter((name) => name.startsWith('filter_main_'))).not.toEqual([]);
    expect(rule.detection.condition).toMatch(/ and not 1 of filter_main_\*/);
  });

  it('has a condition that uses exactly the defined names', () => {
    const asked = namesIn(rule.detection.condition);
    expect(asked.filter((pattern) => !names.some((name) => covers(pattern, name)))).toEqual([]);
    expect(names.filter((name) => !asked.some((pattern) => covers(pattern, name)))).toEqual([]);
  });

  it('lists its false positives', () => {
    expect(rule.falsepositives.length).toBeGreaterThan(0);
    for (const text of rule.falsepositives) expect(text).toMatch(/^[A-Z].{8,}[^.]$/);
  });
});

describe('rules for techniques', () => {
  const documents = (...ids: string[]) => ids.flatMap(rulesOf);

  it('are in id order, each once', () => {
    expect(rulesFor(['T1105', 'T1057', 'T1105'])).toEqual(documents('T1057', 'T1105'));
  });

  it('include all sub-techniques for a technique named without any', () => {
    const all = ruledTechniques().filter((id) => id.startsWith('T1059'));
    expect(all).toEqual(expect.arrayContaining(['T1059.001', 'T1059.003', 'T1059.005']));
    expect(rulesFor(['T1059'])).toEqual(documents(...all));
    expect(rulesFor(['T1059', 'T1059.003'])).toEqual(documents('T1059.003'));
  });

  it('include only its own for a sub-technique', () => {
    expect(rulesFor(['T1059.003'])).toEqual(documents('T1059.003'));
  });

  it('are empty for a technique without rules', () => {
    expect(rulesFor(['T1588', 'T9999.001', ''])).toEqual([]);
  });
});
