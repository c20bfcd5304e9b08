import type { Column } from '../columns.ts';
import { ANY, type Comparison, type Expression, type Pattern, shapeOf, type Test } from '../expression.ts';
import { luceneOf, parseRegex } from '../regex.ts';
import { Unconvertible } from '../unconvertible.ts';
import { alternatives, wholeText } from './alternatives.ts';

/** Returns a query in the syntax of Elasticsearch's and OpenSearch's query_string. */
export function luceneQuery(expression: Expression<Column>): string {
  return write(expression, false);
}

const phrase = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`;
/** Characters with a meaning in the syntax, and white space, which ends a term. */
const escaped = (text: string) => text.replace(/[-+=&|><!(){}[\]^"~*?:\\/\s]/g, '\\$&');

function write(expression: Expression<Column>, isNested: boolean): string {
  switch (expression.kind) {
    case 'comparison':
      return comparison(expression);
    case 'not':
      return all(isNested, [expression]);
    case 'constant':
      throw new Unconvertible('never', 'a condition without comparisons');
    case 'and':
      return all(isNested, expression.parts);
    default: {
      const parts = alternatives(expression.parts, isListed).map((part) =>
        part.kind === 'expression' ? write(part.expression, true) : list(part.field, part.comparisons),
      );
      return parts.length === 1 ? parts.join('') : wrapped(parts.join(' OR '), isNested);
    }
  }
}

const wrapped = (text: string, isNested: boolean) => (isNested ? `(${text})` : text);

/** Lucene removes events from those that other clauses find: without any, `*:*` finds all. */
function all(isNested: boolean, parts: readonly Expression<Column>[]): string {
  const found = parts.flatMap((part) => (part.kind === 'not' ? [] : write(part, true)));
  const removed = parts.flatMap((part) => (part.kind === 'not' ? `NOT ${write(part.part, true)}` : []));
  return wrapped([...(found.length === 0 ? ['*:*'] : found), ...removed].join(' AND '), isNested);
}

const isListed = (test: Test<Column>) =>
  test.kind === 'pattern' && shapeOf(test.pattern).place !== 'anything';

function list(field: Column, comparisons: readonly Comparison<Column>[]): string {
  const values = comparisons.map(({ test }) => comparedValue(field, test));
  return `${field.name}:${values.length === 1 ? values[0] : `(${values.join(' OR ')})`}`;
}

function comparedValue(field: Column, test: Test<Column>): string {
  if (test.kind !== 'pattern') throw new Unconvertible('value', `a comparison of ${field.name}`);
  const text = wholeText(test);
  const isOfType =
    field.type === 'text' ||
    field.type === 'list' ||
    (text !== undefined &&
      (field.type === 'number'
        ? /^-?\d{1,15}$/
        : field.type === 'truth'
          ? /^(?:true|false)$/i
          : /^[\da-f:.]+$/i
      ).test(text));
  if (!isOfType) throw new Unconvertible('value', `a value of ${field.name} that is of another type`);
  return text === undefined
    ? terms(test.pattern)
    : phrase(field.type === 'truth' ? text.toLowerCase() : text);
}

const terms = (pattern: Pattern) =>
  pattern.map((part) => (typeof part === 'string' ? escaped(part) : part === ANY ? '*' : '?')).join('');

function comparison({ field, test }: Comparison<Column>): string {
  switch (test.kind) {
    case 'pattern':
      return `${field.name}:${comparedValue(field, test)}`;
    case 'regex':
      if (field.type !== 'text') throw new Unconvertible('value', `a regular expression of ${field.name}`);
      return `${field.name}:/${luceneOf(parseRegex(test.regex, test.flags)).replaceAll('/', '\\/')}/`;
    case 'network':
      if (field.type !== 'address')
        throw new Unconvertible('value', `a network in ${field.name}, which is no address`);
      return `${field.name}:${phrase(test.network)}`;
    case 'exists':
      return `_exists_:${field.name}`;
    case 'number':
      // Ranges of other types are in the order of texts.
      if (field.type !== 'number')
        throw new Unconvertible('value', `a range of ${field.name}, which may be no number`);
      return `${field.name}:${test.operator}${test.value}`;
    case 'sameAs':
      throw new Unconvertible('field', `a comparison of ${field.name} with ${test.other.name}`);
  }
}
