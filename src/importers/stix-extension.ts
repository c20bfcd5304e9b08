import { TIPLINE_EXTENSION } from '../model/stix-extension.ts';
import { SEVERITIES, type Severity } from '../model/vocabulary.ts';
import { dateOf, type Fields, field, isObject, MAX_ID, tagsOf, textOf } from './record-fields.ts';
import { externalReferences } from './stix-fields.ts';

/** The catalogues under which Tipline's export names the external ids of an indicator. */
const CATALOGUES = new Set(['stix', 'misp-galaxy', 'tipline']);

/** The properties of an indicator or a vulnerability in Tipline's extension of STIX. Null: not stated. */
export interface TiplineProperties {
  severity: Severity | null;
  firstSeen: Date | null;
  lastSeen: Date | null;
  expiresAt: Date | null;
  forDetection: boolean;
  /** External ids besides the object's own. */
  externalIds: string[];
  /** The labels alone: `indicator_types` derive from them. */
  tags: string[];
}

/** Returns the extension's properties; null if the object is not from Tipline. */
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
