import type { ApiItem } from '../../client/operations.ts';
import { sentenceCase } from '../../parts/format.ts';

export type LookupResult = ApiItem<'POST /app/lookup'>;
export type State = LookupResult['state'];
type Relation = LookupResult['matches'][number]['relation'];

/** In the order of the results. */
export const STATES: readonly { value: State; label: string }[] = [
  { value: 'known', label: 'Known' },
  { value: 'hidden', label: 'Hidden' },
  { value: 'unknown', label: 'Unknown' },
];

const RELATION_NAMES: Partial<Record<Relation, string>> = {
  'url-host': 'Host',
  'url-prefix': 'URL prefix',
  'email-domain': 'E-mail domain',
};

/** Returns the name of a relation: `in-network` is `In network`. */
export const relationName = (relation: Relation): string =>
  RELATION_NAMES[relation] ?? sentenceCase(relation.replaceAll('-', '_'));

/** Returns the names of the sources of the matches, each once. */
export const sourcesOf = ({ matches }: LookupResult): string[] => [
  ...new Set(matches.flatMap(({ indicator }) => indicator.source ?? [])),
];
