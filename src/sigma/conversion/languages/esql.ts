import type { Column } from '../columns.ts';
import {
  ANY,
  type Comparison,
  type Expression,
  missingField,
  ONE,
  type Pattern,
  type Test,
} from '../expression.ts';
import { luceneOf, parseRegex } from '../regex.ts';
import { Unconvertible } from '../unconvertible.ts';
import { alternatives, wholeText } from './alternatives.ts';

/**
 * Returns a query of ES|QL.
 * @param indices patterns of indices and data streams
 */
export function esqlQuery(expression: Expression<Column>, indices: string): string {
  const parts = expression.kind === 'and' ? expression.parts : [expression];
  const where = parts.map((part) => write(part, parts.length > 1)).join('\n  AND ');
  return `FROM ${indices} METADATA _id, _index, _version\n| WHERE ${where}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const quoted = (text: string) =>
  `"${text.replace(/[\\"]/g, '\\$&').replace(/[\t\n\r]/g, (character) => ESCAPES[character] ?? '')}"`;

/** Names with other characters than those of identifiers are quoted, each part for itself. */
const nameOf = ({ name }: Column) =>
  name
    .split('.')
    .map((part) => (/^[A-Za-z_]\w*$/.test(part) ? part : `\`${part}\``))
    .join('.');

function write(expression: Expression<Column>, isNested: boolean): string {
  switch (expression.kind) {
    case 'comparison':
      return comparison(expression);
    case 'not': {
      const missing = missingField(expression);
      if (missing) return `${nameOf(missing)} IS NULL`;
      // A comparison with a missing field is null, and so is its negation.
      return `NOT COALESCE(${write(expression.part, false)}, FALSE)`;
    }
    case 'constant':
      return expression.value ? 'TRUE' : 'FALSE';
    case 'and':
      return wrapped(expression.parts.map((part) => write(part, true)).join(' AND '), isNested);
    default: {
      const parts = alternatives(expression.parts, isListed).map((part) =>
        part.kind === 'expression'
          ? write(part.expression, true)
          : list(part.field, part.isCased, part.comparisons),
      );
      return parts.length === 1 ? parts.join('') : wrapped(parts.join(' OR '), isNested);
    }
  }
}

const wrapped = (text: string, isNested: boolean) => (isNested ? `(${text})` : text);

const isListed = (test: Test<Column>, field: Column) =>
  field.type !== 'list' && (test.kind === 'network' || wholeText(test) !== undefined);

function list(field: Column, isCased: boolean, comparisons: readonly Comparison<Column>[]): string {
  const [first, ...others] = comparisons;
  if (first && others.length === 0) return comparison(first);
  const networks = comparisons.flatMap(({ test }) => (test.kind === 'network' ? quoted(test.network) : []));
  if (networks.length > 0) return `CIDR_MATCH(${addressOf(field)}, ${networks.join(', ')})`;
  const texts = comparisons.map(({ test }) => comparedValue(field, wholeText(test) ?? '', isCased));
  return `${comparedName(field, isCased)} IN (${texts.join(', ')})`;
}

function addressOf(field: Column): string {
  if (field.type === 'address') return nameOf(field);
  if (field.type === 'text') return `TO_IP(${nameOf(field)})`;
  throw new Unconvertible('value', `a network in ${field.name}`);
}

const comparedName = (field: Column, isCased: boolean) =>
  field.type === 'text' && !isCased ? `TO_LOWER(${nameOf(field)})` : nameOf(field);

function comparedValue(field: Column, text: string, isCased: boolean): string {
  switch (field.type) {
    case 'text':
    case 'list':
      return quoted(isCased ? text : text.toLowerCase());
    case 'number':
      if (/^-?\d{1,15}$/.test(text)) return text;
      break;
    case 'truth':
      if (/^(?:true|false)$/i.test(text)) return text.toUpperCase();
      break;
    case 'address':
      if (/^[\da-f:.]+$/i.test(text)) return quoted(text);
  }
  throw new Unconvertible('value', `a value of ${field.name} that is of another type`);
}

function comparison({ field, test }: Comparison<Column>): string {
  const name = nameOf(field);
  switch (test.kind) {
    case 'pattern': {
      const text = wholeText(test);
      // Equality with several values is null.
      if (field.type === 'list') return `${name}:${quoted(text ?? '')}`;
      if (text !== undefined)
        return `${comparedName(field, test.isCased)} == ${comparedValue(field, text, test.isCased)}`;
      return `${likeName(field, test.isCased)} LIKE ${quoted(likePattern(test.pattern, test.isCased))}`;
    }
    case 'regex':
      return `${likeName(field, true)} RLIKE ${quoted(luceneOf(parseRegex(test.regex, test.flags)))}`;
    case 'network':
      return `CIDR_MATCH(${addressOf(field)}, ${quoted(test.network)})`;
    case 'exists':
      return `${name} IS NOT NULL`;
    case 'number':
      return `${field.type === 'number' ? name : `TO_DOUBLE(${name})`} ${test.operator} ${test.value}`;
    case 'sameAs':
      if (field.type !== test.other.type)
        throw new Unconvertible('field', `a comparison of ${field.name} with ${test.other.name}`);
      return `${comparedName(field, test.isCased)} == ${comparedName(test.other, test.isCased)}`;
  }
}

/** Wildcards compare texts only. */
function likeName(field: Column, isCased: boolean): string {
  if (field.type === 'text') return comparedName(field, isCased);
  return `TO_STRING(${nameOf(field)})`;
}

const likePattern = (pattern: Pattern, isCased: boolean) =>
  pattern
    .map((part) => {
      if (part === ANY) return '*';
      if (part === ONE) return '?';
      return (isCased ? part : part.toLowerCase()).replace(/[\\*?]/g, '\\$&');
    })
    .join('');
