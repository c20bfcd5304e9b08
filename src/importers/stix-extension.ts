import { TIPLINE_EXTENSION } from '../model/stix-extension.ts';
import { SEVERITIES, type Severity } from '../model/vocabulary.ts';
import { dateOf, type Fields, field, isObject, MAX_ID, tagsOf, textOf } from './record-fields.ts';
import { externalReferences } from './stix-fields.ts';

/** The catalogues under which our own export names the ids that an indicator has elsewhere. */
const CATALOGUES = new Set(['stix', 'misp-galaxy', 'tipline']);

/** What an indicator or a vulnerability from Tipline says in our extension of STIX. Null: it does not say. */
export interface TiplineProperties {
  severity: Severity | null;
  firstSeen: Date | null;
  lastSeen: Date | null;
  expiresAt: Date | null;
  forDetection: boolean;
  /** Ids it has elsewhere, beside the object's own. */
  externalIds: string[];
  /** Its labels are all its tags: `indicator_types` follow from them. */
  tags: string[];
}

/** null: the object is none of Tipline's. */
export function tiplineProperties(object: Fields): TiplineProperties | null {
  const extensions = field(object, 'extensions');
  const stated = isObject(extensions) ? field(extensions, TIPLINE_EXTENSION) : undefined;
  if (!isObject(stated)) return null;
  const word = textOf(field(stated, 'severity'))?.toUpperCase();
  return {
    severity: SEVERITIES.find((severity) => severity === word) ?? null,
    firstSeen: dateOf(stated, 'first_seen'),
    lastSeen: dateOf(stated, 'last_seen'),
    expiresAt: dateOf(stated, 'expires_at'),
    forDetection: field(stated, 'for_detection') !== false,
    externalIds: idsElsewhere(object),
    tags: tagsOf(field(object, 'labels')),
  };
}

function idsElsewhere(object: Fields): string[] {
  return externalReferences(object)
    .filter((reference) => CATALOGUES.has(textOf(reference.source_name) ?? ''))
    .map((reference) => textOf(reference.external_id))
    .filter((id): id is string => id !== null && id.length <= MAX_ID);
}
