import { Document, isScalar, Scalar, visit } from 'yaml';
import { uuidv5 } from '../../model/identity.ts';
import { SEVERITIES, type Severity, TLPS, type Tlp } from '../../model/vocabulary.ts';
import type { ExportIndicator, Instant } from '../format.ts';
import type { SigmaRuleKind } from './kinds.ts';
import type { SigmaComparison } from './paths.ts';

/** The actor or campaign that a bundle is about. */
export interface SigmaSubject {
  kind: 'actor' | 'campaign';
  /** A UUID. */
  id: string;
  /** Free text. */
  name: string;
  /** The ATT&CK group, such as `G0016`. */
  attackId: string | null;
}

/** The properties by which rules are chosen; null: the rule states none. */
export interface SigmaFacts {
  level: string | null;
  status: string | null;
  /** Such as `product: windows`. */
  logsource: Readonly<Record<string, unknown>>;
}

/** A rule as a whole YAML document, which ends with a line break and has no `---`. */
export interface SigmaDocument extends SigmaFacts {
  text: string;
  /** The value of the document. */
  content: Readonly<Record<string, unknown>>;
}

/** When the set of indicators as a whole was created and last changed. */
export interface SigmaChange {
  createdAt: Date;
  modifiedAt: Date;
}

const LEVELS: Readonly<Record<Severity, string>> = {
  INFO: 'informational',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
  CRITICAL: 'critical',
};

const MAX_NAME = 60;
/**
 * Characters that YAML cannot print or that a reader of the rule cannot see: joiners, changes of direction.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Returns the rule as a YAML document, with its keys in the order of SigmaHQ's conventions. */
export function ruleDocument(rule: OpenRule, subject: SigmaSubject, changed: SigmaChange): SigmaDocument {
  const { kind, part } = rule;
  const name = shownName(subject);
  // SigmaHQ requires that `modified` is not before `date`; links may be newer than what they link.
  const modifiedAt = new Date(
    Math.max(...[rule.modifiedAt, changed.modifiedAt, changed.createdAt].map(Number)),
  );
  const [level, status] = [LEVELS[rule.severity], 'experimental'];
  const content = {
    title: `${name} - ${kind.title}${part === 1 ? '' : ` - Part ${part}`}`,
    id: uuidv5(`sigma:${kind.name}:${part}`, subject.id),
    status,
    description: `Detects ${kind.detects} that are linked to the ${subjectKind(subject)} ${name}.`,
    references: [kind.reference],
    author: 'Tipline',
    date: day(changed.createdAt),
    // SigmaHQ's convention: a rule that has not been modified since its date states no `modified`.
    ...(day(modifiedAt) > day(changed.createdAt) && { modified: day(modifiedAt) }),
    tags: tags(rule, subject),
    logsource: kind.logsource,
    detection: { ...selections(rule, (pattern) => pattern), condition: '1 of selection_*' },
    falsepositives: [kind.falsePositives],
    level,
  };
  const detection = { ...content.detection, ...selections(rule, quoted) };
  return { text: yamlText({ ...content, detection }), content, level, status, logsource: kind.logsource };
}

export function subjectKind({ kind }: SigmaSubject): string {
  return kind === 'actor' ? 'threat actor' : 'campaign';
}

/** Returns the name on one line, short enough for titles, which SigmaHQ limits to 120 characters. */
export function shownName({ name, id }: SigmaSubject): string {
  const shown = [...name.replace(INVISIBLE, ' ').replace(/\s+/g, ' ').trim()];
  if (shown.length === 0) return id;
  return shown.length > MAX_NAME ? `${shown.slice(0, MAX_NAME).join('').trimEnd()}...` : shown.join('');
}

function tags({ kind, tlp }: OpenRule, { attackId }: SigmaSubject): string[] {
  const group = attackId !== null && /^G\d{4}$/.test(attackId) ? [`attack.${attackId.toLowerCase()}`] : [];
  return [...kind.tags, ...group, `tlp.${tlp.toLowerCase().replace('_', '-')}`];
}

/** Returns the selections in the order of their names, whatever order they were added in. */
function selections<T>(
  rule: OpenRule,
  write: (pattern: string) => T,
): Record<string, Record<string, T | T[]>> {
  const sorted = [...rule.selections].sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([selection, { field, patterns }]) => {
      const [first, ...others] = [...patterns.values()].map(write);
      if (first === undefined) throw new Error(`${selection} is empty`);
      return [selection, { [field]: others.length === 0 ? first : [first, ...others] }];
    }),
  );
}

/** Always quotes a pattern: YAML 1.1 reads `1:2:3:4:5:6:7:8` as a number and `no` as a boolean. */
function quoted(pattern: string): Scalar {
  const scalar = new Scalar(pattern);
  scalar.type = 'QUOTE_SINGLE';
  return scalar;
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function yamlText(rule: object): string {
  const document = new Document(rule, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      // YAML has escapes only in double quotes.
      if (isScalar(node) && String(node.value).search(INVISIBLE) !== -1) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document
    .toString({ indent: 4, lineWidth: 0, singleQuote: true })
    .replace(INVISIBLE, (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

/** A rule that is not written yet. */
export interface OpenRule {
  kind: SigmaRuleKind;
  /** From 1. */
  part: number;
  /** The field of each selection and its patterns, by their lower case: Sigma ignores letter case. */
  selections: Map<string, { field: string; patterns: Map<string, string> }>;
  comparisons: number;
  /** Total length of all patterns. */
  length: number;
  severity: Severity;
  tlp: Tlp;
  modifiedAt: Instant;
}

/**
 * Elasticsearch and OpenSearch accept 1,024 clauses per query by default, and pipelines may make two of one
 * comparison and add some of their own. The length matters only with URLs, which may have 8,192 characters
 * each.
 */
const MAX_COMPARISONS = 500;
const MAX_LENGTH = 100_000;

export function openRule(kind: SigmaRuleKind, part: number): OpenRule {
  const [severity, tlp] = [SEVERITIES[0], TLPS[0]];
  return {
    kind,
    part,
    selections: new Map(),
    comparisons: 0,
    length: 0,
    severity,
    tlp,
    modifiedAt: new Date(0),
  };
}

/** Returns whether backends still accept the rule with these comparisons added. */
export function hasRoom(rule: OpenRule, comparisons: readonly SigmaComparison[]): boolean {
  const length = comparisons.reduce((sum, { pattern }) => sum + pattern.length, rule.length);
  return (
    rule.comparisons === 0 ||
    (rule.comparisons + comparisons.length <= MAX_COMPARISONS && length <= MAX_LENGTH)
  );
}

export function addToRule(
  rule: OpenRule,
  row: ExportIndicator,
  comparisons: readonly SigmaComparison[],
): void {
  for (const { selection, field, pattern } of comparisons) {
    const { patterns } = rule.selections.get(selection) ?? { patterns: new Map<string, string>() };
    rule.selections.set(selection, { field, patterns });
    if (patterns.has(pattern.toLowerCase())) continue;
    patterns.set(pattern.toLowerCase(), pattern);
    rule.comparisons++;
    rule.length += pattern.length;
  }
  rule.severity = higher(SEVERITIES, rule.severity, row.severity);
  rule.tlp = higher(TLPS, rule.tlp, row.tlp);
  if (row.modifiedAt > rule.modifiedAt) rule.modifiedAt = row.modifiedAt;
}

function higher<T>(scale: readonly T[], left: T, right: T): T {
  return scale.indexOf(left) > scale.indexOf(right) ? left : right;
}
