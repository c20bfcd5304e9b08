import type { NormalizeResult } from './normalize-result.ts';
import { unwrap } from './refang.ts';

const HIVES: ReadonlyMap<string, string> = new Map([
  ['hklm', 'HKEY_LOCAL_MACHINE'],
  ['hkcu', 'HKEY_CURRENT_USER'],
  ['hkcr', 'HKEY_CLASSES_ROOT'],
  ['hku', 'HKEY_USERS'],
  ['hkcc', 'HKEY_CURRENT_CONFIG'],
  ['hkey_local_machine', 'HKEY_LOCAL_MACHINE'],
  ['hkey_current_user', 'HKEY_CURRENT_USER'],
  ['hkey_classes_root', 'HKEY_CLASSES_ROOT'],
  ['hkey_users', 'HKEY_USERS'],
  ['hkey_current_config', 'HKEY_CURRENT_CONFIG'],
  // The names the kernel and most sandboxes use.
  ['registry\\machine', 'HKEY_LOCAL_MACHINE'],
  ['registry\\user', 'HKEY_USERS'],
]);

// Computer\ is the notation of the registry editor, Registry:: and HKLM: that of PowerShell; a blank replaces
// a lost `_`.
const HIVE =
  /^\\?(?:(?:my )?computer\\|(?:microsoft\.powershell\.core\\)?registry::)?(registry\\(?:machine|user)|[a-z_ ]{3,19}):?(?=\\|$)/i;
const ENDING = /[\\\s]/;

/**
 * Normalizes a registry path below a known hive: long upper-case hive name, single backslashes, none at the
 * end.
 */
export function normalizeRegistryKey(text: string): NormalizeResult {
  // The whole in quotes, or in [ ] as in a .reg file: no hive starts with either.
  const path = singleBackslashes(unwrap(text));
  const match = HIVE.exec(path);
  const hive = HIVES.get(match?.[1]?.toLowerCase().replaceAll(' ', '_') ?? '');
  if (match === null || hive === undefined) return { rejected: 'not a key of a known registry hive' };
  const value = hive + path.slice(match[0].length);
  return { type: 'REGISTRY_KEY', value, normalized: value.toLowerCase() };
}

/** A slash is part of the name (`HKCR\MIME\…\text/html`) unless slashes are the only separators. */
function singleBackslashes(path: string): string {
  const separated = path.includes('\\') ? path : path.replaceAll('/', '\\');
  const single = separated.replace(/\\{2,}/g, '\\');
  let end = single.length;
  while (end > 0 && ENDING.test(single.charAt(end - 1))) end--;
  return single.slice(0, end);
}
