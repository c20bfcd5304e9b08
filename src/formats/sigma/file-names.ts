import type { EventPath } from './event-path.ts';
import { literal, type SigmaComparison } from './pattern.ts';
import { isUnixName, unixPath } from './unix-paths.ts';
import { windowsPath } from './windows-paths.ts';

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
