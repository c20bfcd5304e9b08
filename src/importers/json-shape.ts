export interface JsonShape {
  root: 'object' | 'array';
  /** Names of the root's members or, in an array, of its elements' members, as far as the text goes. */
  keys: Set<string>;
}

const MAX_KEYS = 1000;

/** Returns the shape of a JSON file from its beginning; null if it does not begin as JSON. */
export function jsonShape(head: string): JsonShape | null {
  const first = head.trimStart().charAt(0);
  if (first !== '{' && first !== '[') return null;
  const keys = new Set<string>();
  const keyDepth = first === '{' ? 1 : 2;
  let depth = 0;
  let lastString = '';
  for (let i = 0; i < head.length; i++) {
    const char = head.charAt(i);
    if (char === '"') {
      const end = endOfString(head, i + 1);
      lastString = head.slice(i + 1, end);
      i = end;
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === ':' && depth === keyDepth && keys.size < MAX_KEYS) keys.add(lastString);
  }
  return { root: first === '{' ? 'object' : 'array', keys };
}

function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at;
}
