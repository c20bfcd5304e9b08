import { conditionExpression, type Selection } from './condition.ts';
import { both, type Expression, either } from './expression.ts';
import { Unconvertible } from './unconvertible.ts';
import { fieldExpression, keywordExpression, MAX_COMPARISONS, type SigmaField, tooLarge } from './values.ts';

/**
 * Returns the expression of a rule's detection, in the fields of Sigma's taxonomy.
 * @param detection of a rule of the Sigma specification 2.1
 */
export function detectionExpression(detection: unknown): Expression<SigmaField> {
  if (!isMap(detection)) throw new Unconvertible('detection', 'no detection');
  const { condition, timeframe, ...definitions } = detection;
  if (timeframe !== undefined) throw new Unconvertible('condition', 'a timeframe, which counts events');
  const selections = new Map(
    Object.entries(definitions).map(([name, definition]) => [name, lazySelection(name, definition)] as const),
  );
  const conditions = Array.isArray(condition) ? condition : [condition];
  if (conditions.length === 0) throw new Unconvertible('condition', 'no condition');
  return either(
    conditions.map((one) => {
      if (typeof one !== 'string') throw new Unconvertible('condition', 'a condition that is no text');
      return conditionExpression(one, selections);
    }),
  );
}

/** A selection that the condition does not use may be of any form. */
function lazySelection(name: string, definition: unknown): Selection {
  let read: Expression<SigmaField> | undefined;
  const expression = () => (read ??= selectionExpression(name, definition));
  let size: number | undefined;
  return {
    get expression() {
      return expression();
    },
    get size() {
      size ??= sizeOf(expression());
      return size;
    },
  };
}

function selectionExpression(name: string, definition: unknown): Expression<SigmaField> {
  if (Array.isArray(definition)) {
    if (definition.length === 0) throw new Unconvertible('detection', `${name} is empty`);
    return either(
      definition.map((part) => (isMap(part) ? selectionExpression(name, part) : keywordExpression(part))),
    );
  }
  if (!isMap(definition)) return keywordExpression(definition);
  const fields = Object.entries(definition);
  if (fields.length === 0) throw new Unconvertible('detection', `${name} is empty`);
  return both(fields.map(([key, value]) => fieldExpression(key, value)));
}

function sizeOf(expression: Expression<SigmaField>): number {
  if (expression.kind === 'not') return sizeOf(expression.part);
  if (expression.kind !== 'and' && expression.kind !== 'or') return 1;
  const size = expression.parts.reduce((sum, part) => sum + sizeOf(part), 0);
  if (size > MAX_COMPARISONS) throw tooLarge();
  return size;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
