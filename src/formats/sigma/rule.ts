import { Document, isScalar, Scalar, visit } from 'yaml';
import { uuidv5 } from '../../model/identity.ts';
import type { Severity } from '../../model/vocabulary.ts';
import type { OpenRule } from './open-rule.ts';

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
export function ruleDocument(rule: OpenRule, subject: SigmaSubject, changed: SigmaChange): string {
  const { kind, part } = rule;
  const name = shownName(subject);
  // SigmaHQ requires that `modified` is not before `date`; links may be newer than what they link.
  const modifiedAt = new Date(
    Math.max(...[rule.modifiedAt, changed.modifiedAt, changed.createdAt].map(Number)),
  );
  return yamlText({
    title: `${name} - ${kind.title}${part === 1 ? '' : ` - Part ${part}`}`,
    id: uuidv5(`sigma:${kind.name}:${part}`, subject.id),
    status: 'experimental',
    description: `Detects ${kind.detects} that are linked to the ${subjectKind(subject)} ${name}.`,
    references: [kind.reference],
    author: 'Tipline',
    date: day(changed.createdAt),
    modified: day(modifiedAt),
    tags: tags(rule, subject),
    logsource: kind.logsource,
    detection: { ...selections(rule), condition: '1 of selection_*' },
    falsepositives: [kind.falsePositives],
    level: LEVELS[rule.severity],
  });
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
function selections(rule: OpenRule): Record<string, Record<string, Scalar | Scalar[]>> {
  const sorted = [...rule.selections].sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([selection, { field, patterns }]) => {
      const [first, ...others] = [...patterns.values()].map(quoted);
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
