import type { RelationshipType, Tlp } from '../model/vocabulary.ts';
import type { RelationshipRecord } from './importer.ts';

export function relationshipRecord(
  type: RelationshipType,
  from: string,
  to: string,
  tlp: Tlp | null,
): RelationshipRecord {
  return { kind: 'relationship', type, from, to, tlp };
}
