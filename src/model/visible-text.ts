const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** Returns third-party text with its control, format and direction characters escaped, including line ends. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, escaped);
}

/** Escapes third-party text like `visibleText`, but keeps line ends. */
export function visibleLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => visibleText(line.replaceAll('\t', '  ')))
    .join('\n');
}

/** Returns an escape such as `\u{202e}`. */
export function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
