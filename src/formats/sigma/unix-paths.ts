import type { ShownPath } from './shown-path.ts';

/** What only a shell expands: `~/`, `$HOME/`, `${HOME}/`. */
const VARIABLE = /^(?:~|\$(?:[A-Z_]+|\{[A-Z_]+\}))(?=\/|$)/;
const EXTENSION = /^(?![a-z]:|%)[^\\]*\.(?:sh|so(?:\.\d+)*|ko|elf|dylib|plist)$/i;
/** They are there before anybody writes to them. */
const FOLDER =
  /^\/(?:Applications|bin|boot|dev|dev\/shm|etc|home|lib|Library|opt|root|run|sbin|srv|tmp|(?:usr|usr\/local)(?:\/s?bin|\/lib)?|Users|var|var\/(?:log|tmp))$/;

/** Whether the name is one of Linux or macOS, by its beginning or, of a part of a path, by its extension. */
export function isUnixName(name: string): boolean {
  return name.startsWith('/') || VARIABLE.test(name) || EXTENSION.test(name);
}

/** A name of Linux or macOS as events show it; null for a folder. */
export function unixPath(name: string): ShownPath | null {
  if (name.startsWith('/')) return FOLDER.test(name) ? null : { path: name, isWhole: true };
  const variable = VARIABLE.exec(name);
  if (variable === null) return { path: `/${name.replace(/^(?:\.{1,2}\/)+/, '')}`, isWhole: false };
  return { path: name.slice(variable[0].length), isWhole: false };
}
