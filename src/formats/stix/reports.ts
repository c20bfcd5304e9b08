import { STIX_PATTERN } from '../../model/source-record.ts';
import type { AttributeRef, ExportAttribute, ExportReport } from '../format.ts';
import {
  entityUuid,
  externalReferences,
  header,
  indicatorObjectId,
  killChainPhases,
  mispObjectProperties,
  objectMarkings,
  omitEmpty,
  type StixObject,
  withExtension,
} from './common.ts';

/** The pattern language of each type of attribute that is a detection rule (pattern-type-ov, STIX 2.1 §10.20). */
const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ...['pcre', 'sigma', 'snort', 'suricata', 'yara'].map((type): [string, string] => [type, type]),
  [STIX_PATTERN, 'stix'],
]);

function reportId({ id }: Pick<ExportReport, 'id'>): string {
  return `report--${entityUuid(id)}`;
}

/** Returns a report without its `object_refs`, as the beginning of its JSON, up to the list. */
export function reportHead(report: ExportReport): string {
  const id = reportId(report);
  const object = {
    ...header({ ...report, ...timesOf(report, id), type: 'report', id }),
    name: report.title,
    description: report.description ?? undefined,
    published: (report.publishedAt ?? report.statedAt ?? report.createdAt).toISOString(),
    confidence: report.confidence,
    labels: omitEmpty(report.tags),
    external_references: omitEmpty([
      ...report.links.map((url) => ({ source_name: hostOf(url), url })),
      ...externalReferences(report.externalIds, id),
    ]),
    ...objectMarkings(report.tlp),
    ...withExtension({ authors: omitEmpty(report.authors) }),
  };
  return `${JSON.stringify(object).slice(0, -1)},"object_refs":[`;
}

/** STIX requires a name of the source of each reference (§2.5). */
function hostOf(url: string): string {
  return (URL.canParse(url) && new URL(url).hostname) || 'link';
}

/**
 * Under its producer's id an object has the producer's times: Tipline's would make it newer than the original.
 */
function timesOf({ externalIds, statedAt, createdAt }: ExportReport | ExportAttribute, id: string) {
  if (!externalIds.includes(id)) return { isForeign: false };
  const at = statedAt ?? createdAt;
  return { isForeign: true, createdAt: at, modifiedAt: at };
}

/** Returns the id of the object that `attributeObject` makes of an attribute. */
export function attributeId({ id, type, forDetection }: AttributeRef): string {
  return `${languageOf({ type, forDetection }) === undefined ? 'note' : 'indicator'}--${entityUuid(id)}`;
}

function languageOf({ type, forDetection }: Omit<AttributeRef, 'id'>): string | undefined {
  return forDetection ? LANGUAGES.get(type) : undefined;
}

/**
 * Returns an attribute: a detection rule as an indicator in its language, anything else as a note. Null: there is
 * nothing in the bundle that a note could be about.
 */
export function attributeObject(attribute: ExportAttribute): StixObject | null {
  const language = languageOf(attribute);
  return language === undefined ? note(attribute) : rule(attribute, language);
}

function rule(attribute: ExportAttribute, language: string): StixObject {
  const id = attributeId(attribute);
  const times = timesOf(attribute, id);
  const from = attribute.statedAt ?? attribute.createdAt;
  const { expiresAt } = attribute;
  // STIX requires that it is later (§4.7); the extension has it in any case.
  const isAfter = expiresAt !== null && expiresAt > from;
  return {
    ...header({ ...attribute, ...times, type: 'indicator', id }),
    name: attribute.name ?? undefined,
    description: attribute.description ?? undefined,
    indicator_types: ['malicious-activity'],
    pattern: attribute.value,
    pattern_type: language,
    valid_from: from.toISOString(),
    valid_until: isAfter ? expiresAt?.toISOString() : undefined,
    kill_chain_phases:
      attribute.killChainPhases === null ? undefined : killChainPhases(attribute.killChainPhases),
    confidence: attribute.confidence,
    labels: omitEmpty(attribute.tags),
    external_references: omitEmpty(externalReferences(attribute.externalIds, id)),
    ...objectMarkings(attribute.tlp),
    ...attributeExtension(attribute),
  };
}

function note(attribute: ExportAttribute): StixObject | null {
  const id = attributeId(attribute);
  const refs = [
    ...attribute.about.map(indicatorObjectId),
    ...attribute.reports.map((report) => reportId({ id: report })),
  ];
  if (refs.length === 0) return null;
  return {
    ...header({ ...attribute, ...timesOf(attribute, id), type: 'note', id }),
    abstract: attribute.name ?? attribute.type,
    content: attribute.value,
    object_refs: refs,
    confidence: attribute.confidence,
    labels: omitEmpty(attribute.tags),
    external_references: omitEmpty(externalReferences(attribute.externalIds, id)),
    ...objectMarkings(attribute.tlp),
    ...attributeExtension(attribute),
  };
}

function attributeExtension(attribute: ExportAttribute) {
  const { type, name, description, category, forDetection, expiresAt, object } = attribute;
  return withExtension({
    attribute_type: type,
    name: name ?? undefined,
    comment: description ?? undefined,
    category: category ?? undefined,
    for_detection: forDetection,
    expires_at: expiresAt?.toISOString(),
    object: object === null ? undefined : mispObjectProperties(object),
  });
}
