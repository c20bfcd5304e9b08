import type { Column } from '../columns.ts';
import {
  type Comparison,
  type Expression,
  missingField,
  regexOf,
  shapeOf,
  type Test,
} from '../expression.ts';
import { escapeRe2, parseRegex, re2Of } from '../regex.ts';
import { Unconvertible } from '../unconvertible.ts';
import { alternatives, wholeText } from './alternatives.ts';

/**
 * Returns a query of the Kusto Query Language.
 * @param table a table or a function without parameters
 */
export function kustoQuery(expression: Expression<Column>, table: string): string {
  const parts = expression.kind === 'and' ? expression.parts : [expression];
  return [table, ...parts.map((part) => `| where ${write(part, false)}`)].join('\n');
}

/** A string literal; control characters and lone surrogates by their codes. */
export const kustoText = (text: string) =>
  `"${text
    .replace(/[\\"]/g, '\\$&')
    .replace(
      /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )}"`;

function write(expression: Expression<Column>, isNested: boolean): string {
  switch (expression.kind) {
    case 'comparison':
      return comparison(expression);
    case 'not': {
      const missing = missingField(expression);
      if (missing) return `${missing.type === 'number' ? 'isnull' : 'isempty'}(${missing.name})`;
      const inner = write(expression.part, false);
      return isNullable(expression.part) ? `not(coalesce(${inner}, false))` : `not(${inner})`;
    }
    case 'constant':
      return String(expression.value);
    case 'and':
      return wrapped(expression.parts.map((part) => write(part, true)).join(' and '), isNested);
    default: {
      const parts = alternatives(expression.parts, isListed).map((part) =>
        part.kind === 'expression'
          ? write(part.expression, true)
          : list(part.field, part.isCased, part.comparisons),
      );
      return parts.length === 1 ? parts.join('') : wrapped(parts.join(' or '), isNested);
    }
  }
}

const wrapped = (text: string, isNested: boolean) => (isNested ? `(${text})` : text);

/** Returns whether an expression may be null: its negation would be, too, and `where` drops the event. */
function isNullable(expression: Expression<Column>): boolean {
  if (expression.kind === 'comparison')
    return (
      expression.test.kind === 'network' ||
      (expression.field.type === 'number' && expression.test.kind !== 'exists')
    );
  if (expression.kind === 'not' || expression.kind === 'constant') return false;
  return expression.parts.some(isNullable);
}

const isIpv6 = (network: string) => network.includes(':');

function isListed(test: Test<Column>, field: Column): boolean {
  if (test.kind === 'network') return !isIpv6(test.network) && field.type !== 'number';
  const text = wholeText(test);
  return text !== undefined && text !== '';
}

function list(field: Column, isCased: boolean, comparisons: readonly Comparison<Column>[]): string {
  const [first, ...others] = comparisons;
  if (first && others.length === 0) return comparison(first);
  const networks = comparisons.flatMap(({ test }) =>
    test.kind === 'network' ? kustoText(test.network) : [],
  );
  if (networks.length > 0) return `ipv4_is_in_any_range(${field.name}, ${networks.join(', ')})`;
  const texts = comparisons.map(({ test }) => wholeText(test) ?? '');
  if (field.type === 'number')
    return `${field.name} in (${texts.map((text) => integer(text, field)).join(', ')})`;
  return `${field.name} ${isCased ? 'in' : 'in~'} (${texts.map(kustoText).join(', ')})`;
}

function integer(text: string, field: Column): string {
  if (!/^-?\d{1,15}$/.test(text))
    throw new Unconvertible('value', `a value of ${field.name} that is no whole number`);
  return text;
}

function comparison({ field, test }: Comparison<Column>): string {
  const { name } = field;
  if (field.type === 'number') return numeric(field, test);
  switch (test.kind) {
    case 'pattern':
      return textual(name, test);
    case 'regex':
      return `${name} matches regex ${kustoText(re2Of(parseRegex(test.regex, test.flags)))}`;
    case 'network':
      return `${isIpv6(test.network) ? 'ipv6' : 'ipv4'}_is_in_range(${name}, ${kustoText(test.network)})`;
    case 'exists':
      return `isnotempty(${name})`;
    case 'number':
      return `(isnotnull(todouble(${name})) and todouble(${name}) ${test.operator} ${test.value})`;
    case 'sameAs':
      return `(isnotempty(${name}) and ${name} ${test.isCased ? '==' : '=~'} ${test.other.name})`;
  }
}

const OPERATORS = {
  whole: ['==', '=~'],
  start: ['startswith_cs', 'startswith'],
  end: ['endswith_cs', 'endswith'],
  inside: ['contains_cs', 'contains'],
} as const;

function textual(name: string, { pattern, isCased }: Test<Column> & { kind: 'pattern' }): string {
  const shape = shapeOf(pattern);
  if (shape.place === 'anything') return `isnotempty(${name})`;
  if (shape.text === undefined)
    return `${name} matches regex ${kustoText(`${isCased ? '(?s)' : '(?is)'}^${regexOf(pattern, escapeRe2)}$`)}`;
  if (shape.text === '') return `isempty(${name})`;
  return `${name} ${OPERATORS[shape.place][isCased ? 0 : 1]} ${kustoText(shape.text)}`;
}

function numeric(field: Column, test: Test<Column>): string {
  switch (test.kind) {
    case 'pattern':
      return `${field.name} == ${integer(wholeText(test) ?? '*', field)}`;
    case 'exists':
      return `isnotnull(${field.name})`;
    case 'number':
      return `${field.name} ${test.operator} ${test.value}`;
    default:
      throw new Unconvertible('value', `a comparison of ${field.name} other than with a number`);
  }
}
