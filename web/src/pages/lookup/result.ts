import type { ApiItem } from '../../client/operations.ts';

export type LookupResult = ApiItem<'POST /app/lookup'>;
export type State = LookupResult['state'];

/** In the order of the results. */
export const STATES: readonly { value: State; label: string }[] = [
  { value: 'known', label: 'Known' },
  { value: 'hidden', label: 'Hidden' },
  { value: 'unknown', label: 'Unknown' },
];

/** Returns the names of the sources of the matches, each once. */
export const sourcesOf = ({ matches }: LookupResult): string[] => [
  ...new Set(matches.flatMap(({ indicator }) => indicator.source ?? [])),
];
