import { TIPLINE_EXTENSION } from '../../model/stix-extension.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { Instant } from '../format.ts';
import { parseStixId } from './ids.ts';
import { markingOf } from './markings.ts';

/**
 * An object as it is serialized; an undefined property is left out, because STIX has neither null nor empty
 * lists.
 */
export type StixObject = { id: string } & Record<string, unknown>;

/** The same in every installation, like the ids of indicators, because one rule generates them. */
const IDENTITY_ID = 'identity--1d5287ab-77c9-4e6d-a8d8-7b60c6bdc733';
const FIRST_PUBLISHED = '2026-11-20T00:00:00.000Z';

export const TIPLINE_IDENTITY: StixObject = {
  type: 'identity',
  spec_version: '2.1',
  id: IDENTITY_ID,
  created: FIRST_PUBLISHED,
  modified: FIRST_PUBLISHED,
  name: 'Tipline',
  description: 'A self-hosted threat-intelligence service, which names the source of what it passes on.',
  identity_class: 'system',
};

export const TIPLINE_EXTENSION_DEFINITION: StixObject = {
  type: 'extension-definition',
  spec_version: '2.1',
  id: TIPLINE_EXTENSION,
  created_by_ref: IDENTITY_ID,
  created: FIRST_PUBLISHED,
  modified: FIRST_PUBLISHED,
  name: 'Tipline properties',
  description: 'What Tipline knows and STIX has no property for, and an observable that its patterns name.',
  schema: [
    'Property extension of indicator and vulnerability: observable_type (string, such as IPV4), severity (info, low,',
    'medium, high or critical), first_seen, last_seen and expires_at (timestamp), for_detection (boolean; false:',
    'context only, never for rules or block lists), source_name (string).',
    'Property extension of intrusion-set and threat-actor: country (string, ISO 3166-1 alpha-2), motivation',
    '(espionage, financial, hacktivism, destruction or information-ops), sophistication (minimal, intermediate,',
    'advanced, expert or strategic).',
    'New SCO cryptocurrency-wallet, in patterns: value (string, the address), its id contributing property.',
  ].join(' '),
  version: '1.0.0',
  extension_types: ['property-extension', 'new-sco'],
};

interface Common {
  type: string;
  id: string;
  createdAt: Instant;
  modifiedAt: Instant;
  /**
   * Created by another producer and identified by that producer's id: only the producer may state
   * `created_by_ref`.
   */
  isForeign?: boolean;
}

/** Returns the properties that every domain and relationship object begins with. */
export function header({ type, id, createdAt, modifiedAt, isForeign = false }: Common): StixObject {
  return {
    type,
    spec_version: '2.1',
    id,
    ...creatorAndTimestamps({ createdAt, modifiedAt, isForeign }),
  };
}

export function creatorAndTimestamps({
  createdAt,
  modifiedAt,
  isForeign = false,
}: Pick<Common, 'createdAt' | 'modifiedAt' | 'isForeign'>) {
  return {
    created_by_ref: isForeign ? undefined : IDENTITY_ID,
    created: createdAt.toISOString(),
    modified: (modifiedAt < createdAt ? createdAt : modifiedAt).toISOString(),
  };
}

export function objectMarkings(tlp: Tlp) {
  return { object_marking_refs: [markingOf(tlp).id] };
}

export function withExtension(properties: Record<string, unknown>) {
  return { extensions: { [TIPLINE_EXTENSION]: { extension_type: 'property-extension', ...properties } } };
}

export function omitEmpty<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length === 0 ? undefined : values;
}

/** Returns external ids as references; STIX requires each with the catalogue that it belongs to (§2.5). */
export function externalReferences(externalIds: readonly string[], ownId: string) {
  return externalIds
    .filter((id) => id !== ownId)
    .map((id) => ({ source_name: catalogueOf(id), external_id: id }));
}

function catalogueOf(id: string): string {
  if (parseStixId(id) !== null) return 'stix';
  return id.startsWith('misp-galaxy:') ? 'misp-galaxy' : 'tipline';
}
