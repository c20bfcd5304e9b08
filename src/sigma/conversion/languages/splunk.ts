import type { Column } from '../columns.ts';
import {
  ANY,
  type Comparison,
  type Expression,
  ONE,
  type Pattern,
  regexOf,
  type Test,
} from '../expression.ts';
import { escapeRe2 } from '../regex.ts';
import { Unconvertible } from '../unconvertible.ts';
import { alternatives, wholeText } from './alternatives.ts';

/**
 * Returns a search in SPL. Conditions that the search command cannot express (`?`, letter case, literal asterisks, regular expressions)
 * follow in a `where` command.
 */
export function splunkQuery(expression: Expression<Column>): string {
  const parts = expression.kind === 'and' ? expression.parts : [expression];
  const searched = parts.filter(isSearchable);
  const others = parts.filter((part) => !isSearchable(part));
  const search =
    searched.length === 0 ? '*' : searched.map((part) => searchText(part, parts.length > 1)).join(' ');
  return [search, ...others.map((part) => `| where ${where(part, false)}`)].join('\n');
}

function isSearchable(expression: Expression<Column>): boolean {
  if (expression.kind === 'comparison') return isSearchableTest(expression.test);
  if (expression.kind === 'not') return isSearchable(expression.part);
  return expression.kind === 'constant' || expression.parts.every(isSearchable);
}

function isSearchableTest(test: Test<Column>): boolean {
  if (test.kind === 'regex' || test.kind === 'sameAs') return false;
  if (test.kind !== 'pattern') return true;
  return !test.isCased && test.pattern.every(isSearchablePart) && !NETWORK.test(wholeText(test) ?? '');
}

/** The search command compares a text of this form as a network. */
const NETWORK = /^[\da-f:.]+\/\d{1,3}$/i;

/** The search command has no escape for an asterisk, and expands macros between back quotes. */
const isSearchablePart = (part: Pattern[number]) =>
  part === ANY || (part !== ONE && !/[*`\p{Cc}\p{Zl}\p{Zp}]/u.test(part));

const quoted = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`;
const fieldOf = ({ name }: Column) => (/^\w+$/.test(name) ? name : `"${name}"`);
const searchPattern = (pattern: Pattern) =>
  `"${pattern.map((part) => (typeof part === 'string' ? part.replace(/[\\"]/g, '\\$&') : '*')).join('')}"`;

function searchText(expression: Expression<Column>, isNested: boolean): string {
  switch (expression.kind) {
    case 'comparison':
      return searchComparison(expression);
    case 'not':
      return `NOT ${searchText(expression.part, true)}`;
    case 'constant':
      throw new Unconvertible('never', 'a condition without comparisons');
    case 'and':
      return wrapped(expression.parts.map((part) => searchText(part, true)).join(' '), isNested);
    default: {
      const isListed = (test: Test<Column>) => test.kind === 'pattern' && test.pattern.length > 0;
      const parts = alternatives(expression.parts, isListed).map((part) =>
        part.kind === 'expression'
          ? searchText(part.expression, true)
          : searchList(part.field, part.comparisons),
      );
      return parts.length === 1 ? parts.join('') : wrapped(parts.join(' OR '), isNested);
    }
  }
}

const wrapped = (text: string, isNested: boolean) => (isNested ? `(${text})` : text);

function searchList(field: Column, comparisons: readonly Comparison<Column>[]): string {
  const values = comparisons.map(({ test }) => searchPattern(test.kind === 'pattern' ? test.pattern : []));
  return values.length === 1
    ? `${fieldOf(field)}=${values[0]}`
    : `${fieldOf(field)} IN (${values.join(', ')})`;
}

function searchComparison({ field, test }: Comparison<Column>): string {
  const name = fieldOf(field);
  switch (test.kind) {
    case 'pattern':
      return `${name}=${searchPattern(test.pattern)}`;
    case 'network':
      return `${name}=${quoted(test.network)}`;
    case 'exists':
      return `${name}=*`;
    case 'number':
      return `${name}${test.operator}${test.value}`;
    default:
      throw new Unconvertible('value', 'a comparison that the search command does not have');
  }
}

/** Returns an expression of the eval command that is never null, so that its negation is true of events without the field. */
function where(expression: Expression<Column>, isNested: boolean): string {
  switch (expression.kind) {
    case 'comparison':
      return whereComparison(expression);
    case 'not':
      return `NOT (${where(expression.part, false)})`;
    case 'constant':
      throw new Unconvertible('never', 'a condition without comparisons');
    default:
      return wrapped(
        expression.parts.map((part) => where(part, true)).join(expression.kind === 'and' ? ' AND ' : ' OR '),
        isNested,
      );
  }
}

function whereComparison({ field, test }: Comparison<Column>): string {
  const value = `'${field.name}'`;
  const isMatch = (regex: string) => `match(${value}, ${quoted(withCodes(regex))})`;
  switch (test.kind) {
    case 'pattern':
      return truth(isMatch(`${test.isCased ? '(?s)' : '(?is)'}^${regexOf(test.pattern, escapeRe2)}$`));
    case 'regex':
      return truth(isMatch((test.flags === '' ? '' : `(?${test.flags})`) + test.regex));
    case 'network':
      return truth(`cidrmatch(${quoted(test.network)}, ${value})`);
    case 'exists':
      return `isnotnull(${value})`;
    case 'number':
      return truth(`tonumber(${value}) ${test.operator} ${test.value}`);
    case 'sameAs': {
      const other = `'${test.other.name}'`;
      return truth(test.isCased ? `${value}==${other}` : `lower(${value})==lower(${other})`);
    }
  }
}

/** Returns a regular expression with the codes of back quotes, which begin macros, and of control characters. */
const withCodes = (regex: string) =>
  regex.replace(/\\.|[`\p{Cc}\p{Zl}\p{Zp}]/gsu, (part) => {
    const character = part.slice(-1);
    return /[`\p{Cc}\p{Zl}\p{Zp}]/u.test(character) ? `\\x{${character.charCodeAt(0).toString(16)}}` : part;
  });

const truth = (condition: string) => `if(${condition}, 1, 0)==1`;
