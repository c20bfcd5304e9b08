/** One comparison of a rule, a part of a selection. */
export interface SigmaComparison {
  /** The selection that contains it, such as `selection_domain`; a selection compares one field. */
  selection: string;
  /** With its modifiers, such as `QueryName|endswith`. */
  field: string;
  /** In Sigma's notation: wildcards are wildcards, plain text was escaped by `literal`. */
  pattern: string;
}

/**
 * Escapes a value so that it matches literally (Sigma specification, Escape Character). A single backslash in
 * front of plain text is left alone, as rules have it; backslashes in a row, in front of a wildcard and at
 * the end (where a modifier or the next piece puts a wildcard) are doubled.
 */
export function literal(text: string): string {
  return text.replace(/\\+(?=[*?]|$)|\\{2,}|[*?]/g, (found) =>
    found.startsWith('\\') ? found + found : `\\${found}`,
  );
}
