import type { EventPath } from './event-path.ts';

/** The beginnings of paths that the kernel writes, and programs that pass long paths to it. */
const NAMESPACE = /^\\(?:\?\?|\\[.?])\\(?=[a-z]:|UNC\\|GLOBALROOT\\|Volume\{)/i;
/** A disk by number or GUID: its drive letter depends on the machine. */
const DISK = /^(?:(?:GLOBALROOT)?\\Device\\HarddiskVolume\d+|Volume\{[0-9a-f-]+\})(?=\\|$)/i;
/** A device that a driver created, not a file. */
const DEVICE = /^\\(?:\\\.|Device)\\/i;
const VARIABLE = /^%([^%\\]+)%/;

/**
 * The ends of the folders that variables stand for, because events show expanded paths. Where a folder is set
 * up elsewhere than by default, its end is the same.
 */
const FOLDERS: ReadonlyMap<string, string> = new Map([
  ['allusersprofile', ':\\ProgramData'],
  ['appdata', '\\AppData\\Roaming'],
  ['homepath', ''],
  ['localappdata', '\\AppData\\Local'],
  ['programdata', ':\\ProgramData'],
  ['programfiles', ':\\Program Files'],
  ['programfiles(x86)', ':\\Program Files (x86)'],
  ['public', ':\\Users\\Public'],
  ['startup', '\\Start Menu\\Programs\\Startup'],
  ['systemdrive', ':'],
  ['systemroot', ':\\Windows'],
  ['temp', '\\Temp'],
  ['tmp', '\\Temp'],
  ['userprofile', ''],
  ['windir', ':\\Windows'],
]);

/** Folders that exist on every system before anything is written to them. */
const FOLDER_ENDS: readonly string[] = [
  ...FOLDERS.values(),
  ':\\Users',
  ':\\Windows\\System32',
  ':\\Windows\\SysWOW64',
]
  .filter((end) => end !== '')
  .map((end) => end.toLowerCase());

/**
 * Returns a Windows name as events show it: drive letters, backslashes, no variables; null for a folder or a
 * device.
 */
export function windowsPath(name: string): EventPath | null {
  const path = name
    .replaceAll('/', '\\')
    .replace(NAMESPACE, '')
    .replace(/^UNC(?=\\)/i, '\\')
    .replace(/^\\SystemRoot(?=\\)/i, '%SystemRoot%')
    .replace(/^(?:\.{1,2}\\)+/, '');
  const disk = DISK.exec(path)?.[0];
  if (disk !== undefined) return file({ path: path.slice(disk.length), isWhole: false });
  return DEVICE.test(path) ? null : file(withoutVariable(path));
}

function withoutVariable(path: string): EventPath {
  if (/^(?:[a-z]:\\|\\\\)/i.test(path)) return { path, isWhole: true };
  const variable = VARIABLE.exec(path);
  const rest = path.slice(variable?.[0].length ?? 0);
  const folder = FOLDERS.get(variable?.[1]?.toLowerCase() ?? '');
  // For an unknown variable only the path below it is known: `%random%.exe` is not `\.exe`.
  if (folder === undefined) return { path: below(/^(?:\\|$)/.test(rest) ? rest : path), isWhole: false };
  return { path: folder + below(rest), isWhole: false };
}

function below(path: string): string {
  return path === '' || path.startsWith('\\') ? path : `\\${path}`;
}

function file(shown: EventPath): EventPath | null {
  const lowered = shown.path.toLowerCase();
  return FOLDER_ENDS.some((end) => lowered.endsWith(end)) ? null : shown;
}
