import type { Column } from '../columns.ts';
import { type Comparison, type Expression, literalOf, type Test } from '../expression.ts';

/** A part of a disjunction: an expression, or the comparisons of a column that a list can hold. */
export type Alternative =
  | { kind: 'expression'; expression: Expression<Column> }
  | { kind: 'list'; field: Column; isCased: boolean; comparisons: Comparison<Column>[] };

/**
 * Groups the parts of a disjunction by column, at the place of the first of each group.
 * @param isListed whether a list of the language can hold the value
 */
export function alternatives(
  parts: readonly Expression<Column>[],
  isListed: (test: Test<Column>, field: Column) => boolean,
): Alternative[] {
  const lists = new Map<string, Alternative & { kind: 'list' }>();
  const found: Alternative[] = [];
  for (const expression of parts) {
    if (expression.kind !== 'comparison' || !isListed(expression.test, expression.field)) {
      found.push({ kind: 'expression', expression });
      continue;
    }
    const { field, test } = expression;
    const isCased = test.kind === 'pattern' && test.isCased;
    const key = `${test.kind} ${isCased} ${field.name}`;
    const list = lists.get(key) ?? { kind: 'list', field, isCased, comparisons: [] };
    if (list.comparisons.length === 0) found.push(list);
    list.comparisons.push(expression);
    lists.set(key, list);
  }
  return found;
}

/** Returns the whole text that a test compares with; undefined for other tests. */
export const wholeText = (test: Test<Column>) =>
  test.kind === 'pattern' ? literalOf(test.pattern) : undefined;
