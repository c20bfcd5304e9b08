/** Any number of characters. */
export const ANY: unique symbol = Symbol('any');
/** Exactly one character. */
export const ONE: unique symbol = Symbol('one');

/** Texts and wildcards in their order, without empty texts and without two texts in a row; [] is the empty text. */
export type Pattern = readonly (string | typeof ANY | typeof ONE)[];

/**
 * A test of the value of a field. Events without the field pass none.
 * @typeParam F a field
 */
export type Test<F> =
  | { kind: 'pattern'; pattern: Pattern; isCased: boolean }
  /** PCRE that matches anywhere in the value; flags are some of `i`, `m` and `s`. */
  | { kind: 'regex'; regex: string; flags: string }
  | { kind: 'network'; network: string }
  /** The field has a value; products do not distinguish a field without a value from a missing one. */
  | { kind: 'exists' }
  | { kind: 'number'; operator: '<' | '<=' | '>' | '>='; value: number }
  | { kind: 'sameAs'; other: F; isCased: boolean };

export interface Comparison<F> {
  kind: 'comparison';
  field: F;
  test: Test<F>;
}

export type Expression<F> =
  | Comparison<F>
  | { kind: 'and' | 'or'; parts: readonly Expression<F>[] }
  | { kind: 'not'; part: Expression<F> }
  | { kind: 'constant'; value: boolean };

export const constant = (value: boolean) => ({ kind: 'constant', value }) as const;

export const both = <F>(parts: readonly Expression<F>[]) => joined('and', parts);
export const either = <F>(parts: readonly Expression<F>[]) => joined('or', parts);

/** Joins expressions; nested ones of the same kind are flattened and constants resolved. */
function joined<F>(kind: 'and' | 'or', parts: readonly Expression<F>[]): Expression<F> {
  const flat: Expression<F>[] = [];
  for (const part of parts) {
    if (part.kind === kind) flat.push(...part.parts);
    else if (part.kind !== 'constant') flat.push(part);
    else if (part.value === (kind === 'or')) return part;
  }
  const [first, second] = flat;
  if (first === undefined) return constant(kind === 'and');
  return second === undefined ? first : { kind, parts: flat };
}

/** Returns the field of an expression that it is missing; undefined for other expressions. */
export function missingField<F>(expression: Expression<F>): F | undefined {
  const part = expression.kind === 'not' ? expression.part : undefined;
  return part?.kind === 'comparison' && part.test.kind === 'exists' ? part.field : undefined;
}

export function negated<F>(part: Expression<F>): Expression<F> {
  if (part.kind === 'constant') return constant(!part.value);
  return part.kind === 'not' ? part.part : { kind: 'not', part };
}

/** Returns an expression with each comparison replaced. */
export function replaceComparisons<F, T>(
  expression: Expression<F>,
  replace: (comparison: Comparison<F>) => Expression<T>,
): Expression<T> {
  switch (expression.kind) {
    case 'comparison':
      return replace(expression);
    case 'not':
      return negated(replaceComparisons(expression.part, replace));
    case 'constant':
      return expression;
    default:
      return joined(
        expression.kind,
        expression.parts.map((part) => replaceComparisons(part, replace)),
      );
  }
}

/** Returns the text of a pattern without wildcards; undefined if it has any. */
export function literalOf(pattern: Pattern): string | undefined {
  const [first = '', ...others] = pattern;
  return typeof first === 'string' && others.length === 0 ? first : undefined;
}

/** The ways in which most languages compare texts without a regular expression. */
export type Shape =
  | { place: 'whole' | 'start' | 'end' | 'inside'; text: string }
  | { place: 'anything' | 'other'; text?: never };

export function shapeOf(pattern: Pattern): Shape {
  const inner = pattern.filter((part) => part !== ANY);
  const [text = '', ...others] = inner;
  if (typeof text !== 'string' || others.length > 0) return { place: 'other' };
  const [starts, ends] = [pattern[0] === ANY, pattern.at(-1) === ANY];
  if (inner.length === 0) return pattern.length === 0 ? { place: 'whole', text } : { place: 'anything' };
  if (starts && ends) return { place: 'inside', text };
  return { place: starts ? 'end' : ends ? 'start' : 'whole', text };
}

/** Returns a pattern as a regular expression, where the language's `.` matches every character. */
export function regexOf(pattern: Pattern, quote: (text: string) => string): string {
  return pattern.map((part) => (part === ANY ? '.*' : part === ONE ? '.' : quote(part))).join('');
}

/** Returns a pattern with its texts replaced. */
export function replaceTexts(pattern: Pattern, replace: (text: string, index: number) => string): Pattern {
  return pattern.map((part, index) => (typeof part === 'string' ? replace(part, index) : part));
}

/** Returns whether a text matches a pattern, without regard to letter case. */
export function matches(pattern: Pattern, text: string): boolean {
  const lower = text.toLowerCase();
  // The last wildcard for any text, and where the text that it stands for ends.
  let [index, at, wildcard, resumed] = [0, 0, -1, 0];
  const step = () => {
    const part = pattern[index];
    if (typeof part === 'string' && lower.startsWith(part.toLowerCase(), at)) return part.length;
    return part === ONE && at < lower.length ? 1 : -1;
  };
  while (at < lower.length || index < pattern.length) {
    if (pattern[index] === ANY) {
      [wildcard, resumed] = [index++, at];
      continue;
    }
    const length = index < pattern.length ? step() : -1;
    if (length >= 0) {
      at += length;
      index++;
    } else if (wildcard >= 0 && resumed < lower.length) {
      [index, at] = [wildcard + 1, ++resumed];
    } else {
      return false;
    }
  }
  return true;
}
