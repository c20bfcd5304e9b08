const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g;
const INDENT = '  ';
/** Deeper levels are indented no further: the text would grow with the square of the depth. */
const MAX_DEPTH = 40;

/**
 * Returns a JSON text with a line for each member and element. Numbers stay as they are written: `JSON.parse` rounds large integers, such
 * as serial numbers of certificates. Strings have no escapes that they do not need.
 */
export function indentedJson(text: string): string {
  const lines: string[] = [];
  let line = '';
  let depth = 0;
  const endLine = () => {
    lines.push(line);
    line = INDENT.repeat(Math.min(depth, MAX_DEPTH));
  };
  let previous = '';
  for (const [token] of text.matchAll(TOKENS)) {
    const isEnd = token === '}' || token === ']';
    const isFirst = previous === '{' || previous === '[';
    if (isEnd) depth -= 1;
    if (isFirst !== isEnd) endLine();
    line += token === ':' ? ': ' : withoutEscapes(token);
    if (token === '{' || token === '[') depth += 1;
    if (token === ',') endLine();
    previous = token;
  }
  return [...lines, line].join('\n');
}

function withoutEscapes(token: string): string {
  return token.startsWith('"') && token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
}
