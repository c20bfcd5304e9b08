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
function windowsPath(name: string): EventPath | null {
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

/** Prefixes that only a shell expands: `~/`, `$HOME/`, `${HOME}/`. */
const SHELL_VARIABLE = /^(?:~|\$(?:[A-Z_]+|\{[A-Z_]+\}))(?=\/|$)/;
const EXTENSION = /^(?![a-z]:|%)[^\\]*\.(?:sh|so(?:\.\d+)*|ko|elf|dylib|plist)$/i;
/** Folders that exist on every system before anything is written to them. */
const FOLDER =
  /^\/(?:Applications|bin|boot|dev|dev\/shm|etc|home|lib|Library|opt|root|run|sbin|srv|tmp|(?:usr|usr\/local)(?:\/s?bin|\/lib)?|Users|var|var\/(?:log|tmp))$/;

/**
 * Returns whether a name is one of Linux or macOS, by its beginning or, for a partial path, by its extension.
 */
function isUnixName(name: string): boolean {
  return name.startsWith('/') || SHELL_VARIABLE.test(name) || EXTENSION.test(name);
}

/** Returns a Linux or macOS name as events show it; null for a folder. */
function unixPath(name: string): EventPath | null {
  if (name.startsWith('/')) return FOLDER.test(name) ? null : { path: name, isWhole: true };
  const variable = SHELL_VARIABLE.exec(name);
  if (variable === null) return { path: `/${name.replace(/^(?:\.{1,2}\/)+/, '')}`, isWhole: false };
  return { path: name.slice(variable[0].length), isWhole: false };
}

/** The path of a file as an event shows it. */
interface EventPath {
  path: string;
  /** false: it is the end of a path. */
  isWhole: boolean;
}

/** The system whose file events show a name; named pipes have events of their own. */
export type FilePlace = 'windows' | 'linux' | 'macos' | 'pipe';

const PIPE = /^\\(?:(?:\\[.?]|\?\?)\\pipe|Device\\NamedPipe)\\(?=.)/i;
const MACOS = /^\/(?:Applications|Library|System|Users|Volumes|private)\/|\.(?:dylib|plist)$/i;
/**
 * `%x%`, `<x>`, `[random]` or `$RANDOM` are placeholders for an unknown part; `%E6%96%87` is the name of a
 * download.
 */
const PLACEHOLDER = /%(?![0-9a-f]{2}%)[a-z_][\w ()]*%|<[^<>]+>|[[{](?:random|guid)[^\]}]*[\]}]|\$\{?RANDOM/i;
/** Characters that no Windows name contains (Microsoft: Naming Files, Paths, and Namespaces). */
const NOT_OF_WINDOWS = /[*?"|<>]/;
/** The folders of user profiles, below which the user's name differs from one victim to the next. */
const PROFILE =
  /^(?:(?:[a-z]?:)?\\(?:Users|Documents and Settings)\\(?!(?:Public|Default|Default User|All Users)\\)|\/home\/|\/Users\/(?!Shared\/))/i;

/**
 * Returns the comparison for a file name in file events (Sysmon 11, `TargetFilename`) or pipe events (Sysmon
 * 17 and 18, `PipeName`): a whole path as it is, with a wildcard for the user's name; of anything less the
 * end. null for folders, and for names that no event shows: those with placeholders or wildcards.
 */
export function fileComparison(name: string): { place: FilePlace; comparison: SigmaComparison } | null {
  const pipe = PIPE.exec(name);
  if (pipe !== null) return pipeComparison(`\\${name.slice(pipe[0].length)}`);
  const isUnix = isUnixName(name);
  const shown = isUnix ? unixPath(name) : windowsPath(name);
  if (shown === null || !/[\p{L}\p{N}]/u.test(lastName(shown.path))) return null;
  const pattern = pathPattern(shown, isUnix ? PLACEHOLDER : NOT_OF_WINDOWS);
  if (pattern === null) return null;
  const place = isUnix ? (MACOS.test(shown.path) ? 'macos' : 'linux') : 'windows';
  return { place, comparison: { ...fieldOf(shown), pattern } };
}

function pipeComparison(name: string): ReturnType<typeof fileComparison> {
  if (PLACEHOLDER.test(name)) return null;
  const comparison = { selection: 'selection_pipe', field: 'PipeName', pattern: literal(name) };
  return { place: 'pipe', comparison };
}

function fieldOf({ isWhole }: EventPath): Pick<SigmaComparison, 'selection' | 'field'> {
  return isWhole
    ? { selection: 'selection_path', field: 'TargetFilename' }
    : { selection: 'selection_name', field: 'TargetFilename|endswith' };
}

function lastName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** Returns the pattern of a path; null if, apart from the user's name, no event shows it in this form. */
function pathPattern({ path }: EventPath, forbidden: RegExp): string | null {
  const profiles = PROFILE.exec(path)?.[0] ?? '';
  const user = profiles === '' ? '' : (/^[^\\/]+(?=[\\/])/.exec(path.slice(profiles.length))?.[0] ?? '');
  const rest = path.slice(profiles.length + user.length);
  if (PLACEHOLDER.test(rest) || forbidden.test(rest)) return null;
  return user === '' ? literal(path) : `${literal(profiles)}*${literal(rest)}`;
}

/** One comparison of a rule, a part of a selection. */
export interface SigmaComparison {
  /** The selection that contains it, such as `selection_domain`; a selection compares one field. */
  selection: string;
  /** With its modifiers, such as `QueryName|endswith`. */
  field: string;
  /** In Sigma's notation: wildcards are wildcards, plain text was escaped by `literal`. */
  pattern: string;
}

/**
 * Escapes a value so that it matches literally (Sigma specification, Escape Character). A single backslash in
 * front of plain text is left alone, as rules have it; backslashes in a row, in front of a wildcard and at
 * the end (where a modifier or the next piece puts a wildcard) are doubled.
 */
export function literal(text: string): string {
  return text.replace(/\\+(?=[*?]|$)|\\{2,}|[*?]/g, (found) =>
    found.startsWith('\\') ? found + found : `\\${found}`,
  );
}
