import { searchText } from '../../model/search-text.ts';
import { PUBLIC_SUFFIX, suffixKind } from './name-entry.ts';
import type { Rules } from './rule.ts';

/** Three characters are in too many values by chance. */
export const SHORTEST_PART = 4;
/** No name is longer. */
const LONGEST_PART = 253;

/** What very many values begin with: a part of one of these would hide them all. */
const COMMON = [
  ...[
    'http://www.',
    'https://www.',
    'ftp://',
    'ftps://',
    'mozilla/5.0 (',
    'cve-20',
    'hkey_local_machine\\software\\',
  ],
  ...['hkey_current_user\\software\\', 'hkey_users\\', 'hkey_classes_root\\'],
];

const OF_A_HOST = /^[a-z0-9._-]+$/;

/**
 * Sought in the host alone when a host could hold it, else in the whole value: path, query and the part before the @ are
 * the attacker's to write, and `http://evil.example/google.com/` must not be hidden by `google.com`.
 * Letter case does not count.
 */
export function readSubstring(text: string): Rules {
  const part = searchText(text);
  if (part.length < SHORTEST_PART) return { rejected: `a part shorter than ${SHORTEST_PART} characters` };
  if (part.length > LONGEST_PART) return { rejected: `a part longer than ${LONGEST_PART} characters` };
  if (COMMON.some((common) => common.includes(part))) return { rejected: 'a part of very many values' };
  const ofHost = OF_A_HOST.test(part);
  if (ofHost && suffixKind(part.replace(/^[.]+|[.]+$/g, '')) === 'registry')
    return { rejected: PUBLIC_SUFFIX };
  return [{ by: 'part', part, of: ofHost ? 'host' : 'value' }];
}
