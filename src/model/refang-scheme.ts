const SCHEME = /^(?:h[tx*_]{1,3}p|f[tx*]p|ws)s?/i;
const HTTP = /^h[tx*_]{1,3}p(?=s?:)/i;
const FTP = /^f[tx*]p(?=s?:)/i;

// Brackets and spaces have no other meaning between scheme and host; a backslash before a bracket comes from
// Markdown.
const OPEN = '\\\\?[[({（［【]';
const CLOSE = '\\\\?[\\])}）］】]';
const SLASH = '[/\\\\／]';
const COLON_AND_SLASHES = new RegExp(
  [
    // [://] and [:// without its end
    `^ {0,2}${OPEN}[:：]${SLASH}{2}(?:${CLOSE})? {0,2}`,
    // [:]// [:][/][/] :[//] [:/]/ and, without brackets, `: //`. `[` alone would be the start of an IPv6
    // address.
    `^ {0,2}(?:${OPEN})?[:：](?:${CLOSE})? {0,2}(?:${OPEN}${SLASH}{1,2}${CLOSE}|${SLASH}(?:${CLOSE}(?=${SLASH}))?){1,4} {0,2}`,
  ].join('|'),
);
// Unchanged, `https://https://evil.example/` would have the host `https` and an empty port.
const WRITTEN_TWICE = /^(?:https?|ftps?|wss?):\/\/(?=(?:h[tx*_]{1,3}p|f[tx*]p|ws)s?:\/\/)/i;

/**
 * Replaces `hxxp[:]//`, `hXXps(://)`, `h**p ://` and their like, JSON's `http:\/\/` too, by the scheme that
 * they stand for; of several schemes in a row, the last is kept.
 */
export function refangScheme(text: string): string {
  return separated(text).replace(HTTP, 'http').replace(FTP, 'ftp').replace(WRITTEN_TWICE, '');
}

/** Two backslashes are kept: such a URL uses them as separators in the rest, too. */
function separated(text: string): string {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined) return text;
  const rest = text.slice(scheme.length);
  return scheme + rest.replace(COLON_AND_SLASHES, (found) => (found.includes('\\\\') ? ':\\\\' : '://'));
}
