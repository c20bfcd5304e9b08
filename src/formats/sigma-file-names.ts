import { literal, type SigmaComparison } from './sigma-pattern.ts';

/** Whose file events show a name; named pipes have events of their own. */
export type FilePlace = 'windows' | 'linux' | 'macos' | 'pipe';

const PIPE = /^\\\\[.?]\\pipe\\(?=.)/i;
const MACOS = /^(?:~\/Library|\/(?:Applications|Library|System|Users|Volumes|private))\//;
const DEVICE = /^\\\\[.?]\\(?=[a-z]:\\)/i;
const VARIABLE = /^%([^%\\]+)%(?=\\)/;
/** The part of a path that differs from one victim to the next. */
const PROFILE = /^(?:[a-z]:\\Users\\(?!(?:Public|Default|All Users)\\)|\/home\/|\/Users\/(?!Shared\/))/i;

/** Events have paths expanded. Where a folder is set up elsewhere than by default, its end is the same. */
const FOLDERS: ReadonlyMap<string, string> = new Map([
  ['allusersprofile', ':\\ProgramData'],
  ['appdata', '\\AppData\\Roaming'],
  ['localappdata', '\\AppData\\Local'],
  ['programdata', ':\\ProgramData'],
  ['programfiles', ':\\Program Files'],
  ['programfiles(x86)', ':\\Program Files (x86)'],
  ['public', ':\\Users\\Public'],
  ['systemdrive', ':'],
  ['systemroot', ':\\Windows'],
  ['temp', '\\Temp'],
  ['tmp', '\\Temp'],
  ['windir', ':\\Windows'],
]);

/**
 * What file events (Sysmon 11, `TargetFilename`) and pipe events (Sysmon 17 and 18, `PipeName`) show of a file name: a
 * whole path as it is, with any user's name in it; of anything less the end. null for folders, and for what names
 * nothing.
 */
export function fileComparison(name: string): { place: FilePlace; comparison: SigmaComparison } | null {
  const pipe = PIPE.exec(name);
  if (pipe !== null) {
    const pattern = literal(`\\${name.slice(pipe[0].length)}`);
    return { place: 'pipe', comparison: { selection: 'selection_pipe', field: 'PipeName', pattern } };
  }
  const isUnix = /^~?\//.test(name);
  const path = isUnix ? name : windowsPath(name);
  const lastName = path.slice(path.lastIndexOf(isUnix ? '/' : '\\') + 1);
  if (!/[\p{L}\p{N}]/u.test(lastName)) return null;
  return { place: isUnix ? (MACOS.test(path) ? 'macos' : 'linux') : 'windows', comparison: ofPath(path) };
}

/** Backslashes only: Windows takes both, its events show these. */
function windowsPath(name: string): string {
  return name
    .replaceAll('/', '\\')
    .replace(DEVICE, '')
    .replace(/^(?:\.{1,2}\\)+/, '');
}

function ofPath(path: string): SigmaComparison {
  if (path.startsWith('~')) return ending(path.slice(1));
  if (/^(?:\/|[a-z]:\\|\\\\)/i.test(path)) {
    return { selection: 'selection_path', field: 'TargetFilename', pattern: anyUser(path) };
  }
  const variable = VARIABLE.exec(path);
  if (variable === null) return ending(path.startsWith('\\') ? path : `\\${path}`);
  return ending((FOLDERS.get(variable[1]?.toLowerCase() ?? '') ?? '') + path.slice(variable[0].length));
}

function ending(path: string): SigmaComparison {
  return { selection: 'selection_name', field: 'TargetFilename|endswith', pattern: literal(path) };
}

function anyUser(path: string): string {
  const profiles = PROFILE.exec(path)?.[0];
  if (profiles === undefined) return literal(path);
  const rest = /[\\/].*/s.exec(path.slice(profiles.length))?.[0];
  return rest === undefined ? literal(path) : `${literal(profiles)}*${literal(rest)}`;
}
