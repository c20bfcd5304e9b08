import type { EventPath } from './event-path.ts';

/** Prefixes that only a shell expands: `~/`, `$HOME/`, `${HOME}/`. */
const VARIABLE = /^(?:~|\$(?:[A-Z_]+|\{[A-Z_]+\}))(?=\/|$)/;
const EXTENSION = /^(?![a-z]:|%)[^\\]*\.(?:sh|so(?:\.\d+)*|ko|elf|dylib|plist)$/i;
/** Folders that exist on every system before anything is written to them. */
const FOLDER =
  /^\/(?:Applications|bin|boot|dev|dev\/shm|etc|home|lib|Library|opt|root|run|sbin|srv|tmp|(?:usr|usr\/local)(?:\/s?bin|\/lib)?|Users|var|var\/(?:log|tmp))$/;

/**
 * Returns whether a name is one of Linux or macOS, by its beginning or, for a partial path, by its extension.
 */
export function isUnixName(name: string): boolean {
  return name.startsWith('/') || VARIABLE.test(name) || EXTENSION.test(name);
}

/** Returns a Linux or macOS name as events show it; null for a folder. */
export function unixPath(name: string): EventPath | null {
  if (name.startsWith('/')) return FOLDER.test(name) ? null : { path: name, isWhole: true };
  const variable = VARIABLE.exec(name);
  if (variable === null) return { path: `/${name.replace(/^(?:\.{1,2}\/)+/, '')}`, isWhole: false };
  return { path: name.slice(variable[0].length), isWhole: false };
}
