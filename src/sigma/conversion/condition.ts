import { both, type Expression, either, negated } from './expression.ts';
import { Unconvertible } from './unconvertible.ts';
import { MAX_COMPARISONS, type SigmaField, tooLarge } from './values.ts';

/** A selection and how many comparisons it has. */
export interface Selection {
  expression: Expression<SigmaField>;
  size: number;
}

const MAX_DEPTH = 50;
/** How often the name of a selection is compared with a pattern, in all. */
const MAX_NAMES = 100_000;

/**
 * Returns the expression of a condition (Sigma specification 2.1, "Condition"): `not` before `and` before `or`.
 * @param selections by name
 */
export function conditionExpression(
  condition: string,
  selections: ReadonlyMap<string, Selection>,
): Expression<SigmaField> {
  const tokens = condition.match(/[()]|[^\s()]+/g) ?? [];
  let [at, size, depth, names] = [0, 0, 0, 0];
  const word = () => tokens[at]?.toLowerCase();

  function use(used: readonly string[]): Expression<SigmaField>[] {
    return used.map((name) => {
      const selection = selections.get(name);
      if (!selection)
        throw new Unconvertible('condition', `the condition names ${name}, which is not defined`);
      size += selection.size;
      if (size > MAX_COMPARISONS) throw tooLarge();
      return selection.expression;
    });
  }
  function alternatives(): Expression<SigmaField> {
    const parts = [conjunction()];
    while (word() === 'or') {
      at++;
      parts.push(conjunction());
    }
    return either(parts);
  }
  function conjunction(): Expression<SigmaField> {
    const parts = [factor()];
    while (word() === 'and') {
      at++;
      parts.push(factor());
    }
    return both(parts);
  }
  function nested(read: () => Expression<SigmaField>): Expression<SigmaField> {
    if (++depth > MAX_DEPTH)
      throw new Unconvertible('size', `a condition nested more than ${MAX_DEPTH} times`);
    const inner = read();
    depth--;
    return inner;
  }
  function factor(): Expression<SigmaField> {
    const token = tokens[at++];
    if (token === undefined || token === ')') throw new Unconvertible('condition', 'an incomplete condition');
    if (token.toLowerCase() === 'not') return negated(nested(factor));
    if (token === '(') {
      const inner = nested(alternatives);
      if (tokens[at++] !== ')') throw new Unconvertible('condition', 'a parenthesis that is not closed');
      return inner;
    }
    if (word() !== 'of' || selections.has(token)) return both(use([token]));
    at++;
    const pattern = tokens[at++];
    const quantifier = token.toLowerCase();
    if (pattern === undefined || !['1', 'any', 'all'].includes(quantifier))
      throw new Unconvertible('condition', `the condition has ${token} of`);
    names += selections.size;
    if (names > MAX_NAMES) throw new Unconvertible('size', 'too many patterns of selections');
    const parts = use(covered(pattern, [...selections.keys()]));
    return quantifier === 'all' ? both(parts) : either(parts);
  }

  const expression = alternatives();
  if (at < tokens.length) throw new Unconvertible('condition', `the condition has ${tokens[at]}`);
  return expression;
}

function covered(pattern: string, names: readonly string[]): string[] {
  // Names with a leading underscore are only for explicit use.
  const found =
    pattern.toLowerCase() === 'them'
      ? names.filter((name) => !name.startsWith('_'))
      : names.filter((name) => isCovered(pattern.split('*'), name));
  if (found.length === 0)
    throw new Unconvertible('condition', `the condition names ${pattern}, which is not defined`);
  return found;
}

/** @param pieces of a pattern, between its wildcards */
function isCovered(pieces: readonly string[], name: string): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
