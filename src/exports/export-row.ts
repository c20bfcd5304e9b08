import { parseInstant, parseTextArray } from '../db/postgres/text-formats.ts';
import type { ExportIndicator, ExportRecord, Indication } from '../formats/format.ts';
import type { SourceRecord } from '../model/source-record.ts';
import type { IndicatorType, Severity, Tlp } from '../model/vocabulary.ts';
import { parseGroup } from './export-groups.queries.ts';

export type Column = keyof ExportIndicator;

/** Stands for a time that is absent. */
export const NEVER = 'infinity';

/**
 * Returns a function that makes rows of these columns from PostgreSQL's text of each, as `columnsOf` in
 * exports.queries.ts selects it. Other columns are undefined: a format declares the columns that it reads in
 * `ExportShape.columns`. An object literal takes half the time of an object to which properties are added,
 * and an export makes millions.
 */
export function rowReader(columns: readonly Column[]): (fields: readonly string[]) => ExportIndicator {
  const at = Object.fromEntries(COLUMNS.map((column) => [column, columns.indexOf(column)])) as Record<
    Column,
    number
  >;
  return (fields) => {
    const read = <T>(place: number, as: (text: string) => T) =>
      (place < 0 ? undefined : as(fields[place] as string)) as T;
    return {
      id: read(at.id, asIs),
      number: read(at.number, Number),
      version: read(at.version, Number),
      type: read(at.type, asIs<IndicatorType>),
      value: read(at.value, asIs),
      normalized: read(at.normalized, asIs),
      confidence: read(at.confidence, Number),
      severity: read(at.severity, asIs<Severity>),
      tlp: read(at.tlp, asIs<Tlp>),
      tags: read(at.tags, parseTextArray),
      source: read(at.source, asIs),
      firstSeen: read(at.firstSeen, parseInstant),
      lastSeen: read(at.lastSeen, parseInstant),
      expiresAt: read(at.expiresAt, (text) => (text === NEVER ? null : parseInstant(text))),
      createdAt: read(at.createdAt, parseInstant),
      modifiedAt: read(at.modifiedAt, parseInstant),
      forDetection: read(at.forDetection, isTrue),
      ofCertificate: read(at.ofCertificate, isTrue),
      whitelistedParts: read(at.whitelistedParts, (text) => (text === '' ? [] : text.split(' '))),
      externalIds: read(at.externalIds, parseTextArray),
      records: read(at.records, toRecords),
      originalIds: read(at.originalIds, parseTextArray),
      score: read(at.score, (text) => (text === '' ? null : Number(text))),
      group: read(at.group, toGroup),
      indicates: read(at.indicates, (text) => parseTextArray(text).map(toIndication)),
    };
  };
}

const COLUMNS: readonly Column[] = [
  ...(['id', 'number', 'version', 'type', 'value', 'normalized', 'confidence', 'severity', 'tlp'] as const),
  ...(['tags', 'source', 'firstSeen', 'lastSeen', 'expiresAt', 'createdAt', 'modifiedAt'] as const),
  ...(['forDetection', 'ofCertificate', 'externalIds', 'records', 'originalIds'] as const),
  ...(['indicates', 'score', 'group', 'whitelistedParts'] as const),
];

/** Parses the records of each source. Most indicators have none. */
function toRecords(text: string): ExportRecord[] {
  if (text === '[]') return [];
  const statements = JSON.parse(text) as { source: string; records: SourceRecord[] }[];
  return statements.flatMap(({ source, records }) =>
    records.filter(({ withdrawn }) => !withdrawn).map((record) => ({ ...record, source })),
  );
}

const isTrue = (text: string) => text.startsWith('t');

const asIs = <T extends string>(text: string) => text as T;

/** Rows of formats that do not group them have none. */
const toGroup = (text: string) => (text === '' ? null : parseGroup(text));

/** Parses an id, a blank and a marking. */
function toIndication(link: string): Indication {
  const [id = '', tlp = 'RED'] = link.split(' ');
  return { id, tlp: tlp as Tlp };
}
