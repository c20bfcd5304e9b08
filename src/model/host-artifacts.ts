import type { NormalizeResult } from './normalize-result.ts';

/**
 * Windows' longest path is 32,767 units, but such paths are not shared as indicators; 4,096 is Linux'
 * PATH_MAX.
 */
const MAX_PATH_LENGTH = 4096;

/** Returns the name unchanged: the names of kernel objects are case-sensitive. */
export function normalizeMutex(text: string): NormalizeResult {
  return { type: 'MUTEX', value: text, normalized: text };
}

/** A base name or a full path. Identity ignores case, as Windows and macOS do. */
export function normalizeFileName(text: string): NormalizeResult {
  const name = withoutQuotes(text);
  if (name === '') return { rejected: 'empty' };
  if (name.length > MAX_PATH_LENGTH) return { rejected: `longer than ${MAX_PATH_LENGTH} characters` };
  return { type: 'FILENAME', value: name, normalized: name.toLowerCase() };
}

/** Double quotes come from command lines: no Windows name can hold one. */
function withoutQuotes(text: string): string {
  let name = text;
  while (name.length > 1 && name.startsWith('"') && name.endsWith('"')) name = name.slice(1, -1).trim();
  return name;
}

/** Letter case is kept for display; identity ignores it, as signatures do. */
export function normalizeUserAgent(text: string): NormalizeResult {
  return { type: 'USER_AGENT', value: text, normalized: text.toLowerCase() };
}
