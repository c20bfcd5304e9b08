import { searchText } from '../../model/search-text.ts';
import { PUBLIC_SUFFIX, suffixKind } from './name-entry.ts';
import type { Rules } from './rule.ts';

/** Minimum length of a part: three characters occur in too many values by chance. */
export const SHORTEST_PART = 4;
/** Maximum length of a part, which is that of a host name. */
const LONGEST_PART = 253;

/** Beginnings of very many values: a part of one of these would hide all of them. */
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
 * Parses a substring entry. A part that a host can contain is searched for in the host alone, any other part
 * in the whole value: attackers choose the path, the query and the part before the @, so `google.com` must
 * not hide `http://evil.example/google.com/`. Letter case is ignored.
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
