import type { ApiItem } from '../client/operations.ts';
import { sentenceCase } from './format.ts';

type Relation = ApiItem<'POST /app/lookup'>['matches'][number]['relation'];

const RELATION_NAMES: Partial<Record<Relation, string>> = {
  'url-scheme': 'Other scheme',
  'url-host': 'Host',
  'url-prefix': 'URL prefix',
  'email-domain': 'E-mail domain',
};

/** Returns the name of a relation: `in-network` is `In network`. */
export const relationName = (relation: Relation): string =>
  RELATION_NAMES[relation] ?? sentenceCase(relation.replaceAll('-', '_'));
