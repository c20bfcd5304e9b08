import { literal, type SigmaComparison } from './paths.ts';
import { isSharedKey } from './shared-keys.ts';

const USER = /^S-1-5-21-[\d-]+(_Classes)?$/i;
const CLASSES = /^Software\\Classes\\/i;
const CONTROL_SET = /^System\\ControlSet\d{3}\\/i;
const CURRENT_CONTROL_SET = 'System\\CurrentControlSet\\';
const CURRENT_HARDWARE = `${CURRENT_CONTROL_SET}Hardware Profiles\\Current\\`;

/**
 * Returns comparisons for a normalized registry path in Sysmon's event 13 (`TargetObject`: the key, followed
 * by the value's name). The path may be that of a value or of a key, so it is compared whole and as the
 * beginning. Empty for keys that Windows itself writes to.
 */
export function registryComparisons(path: string): SigmaComparison[] {
  const [hive = '', ...names] = path.split('\\');
  if (namesNothing(hive, names)) return [];
  return shownAs(hive, names).flatMap((pattern) => [
    { selection: 'selection_registry_value', field: 'TargetObject', pattern },
    { selection: 'selection_registry_key', field: 'TargetObject|startswith', pattern: `${pattern}\\\\` },
  ]);
}

function namesNothing(hive: string, names: readonly string[]): boolean {
  const below = hive === 'HKEY_USERS' ? names.slice(1) : names;
  if (below.length === 0) return true;
  const key = below.join('\\').replace(CONTROL_SET, CURRENT_CONTROL_SET);
  return isSharedKey(hive === 'HKEY_CLASSES_ROOT' ? `Software\\Classes\\${key}` : key);
}

/**
 * Returns the path as Sysmon writes it: hives are abbreviated, a user's hive is below the user's SID, and the
 * user's classes are in a hive beside it.
 */
function shownAs(hive: string, names: readonly string[]): string[] {
  const key = names.join('\\');
  switch (hive) {
    case 'HKEY_CURRENT_USER':
      return [CLASSES.test(key) ? usersClasses(key.replace(CLASSES, '')) : `HKU\\\\*${literal(`\\${key}`)}`];
    case 'HKEY_CLASSES_ROOT':
      return [...machineClasses(key), usersClasses(key)];
    case 'HKEY_CURRENT_CONFIG':
      return [literal(`HKLM\\${CURRENT_HARDWARE}${key}`)];
    case 'HKEY_USERS':
      return [ofUser(names)];
    default:
      return CLASSES.test(key) ? machineClasses(key.replace(CLASSES, '')) : [ofMachine(key)];
  }
}

function ofMachine(key: string): string {
  return literal(`HKLM\\${key.replace(CONTROL_SET, CURRENT_CONTROL_SET)}`);
}

function machineClasses(key: string): string[] {
  return [literal(`HKCR\\${key}`), literal(`HKLM\\Software\\Classes\\${key}`)];
}

function usersClasses(key: string): string {
  return `HKU\\\\*${literal(`_Classes\\${key}`)}`;
}

/** The SID of an account differs from victim to victim: a wildcard replaces it. */
function ofUser([sid = '', ...names]: readonly string[]): string {
  const account = USER.exec(sid);
  const key = names.join('\\');
  return account === null
    ? literal(`HKU\\${sid}\\${key}`)
    : `HKU\\\\*${literal(`${account[1] ?? ''}\\${key}`)}`;
}
