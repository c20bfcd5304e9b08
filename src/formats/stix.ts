import { INDICATOR_TYPES, TLPS } from '../model/vocabulary.ts';
import type { ExportFormat, ExportIndicator, ExportInfo, ExportOptions, FormatEntry } from './format.ts';
import {
  bundleId,
  indicatorObjectId,
  markingOf,
  type StixObject,
  TIPLINE_EXTENSION_DEFINITION,
  TIPLINE_IDENTITY,
} from './stix/common.ts';
import { type End, entityIds, entityObject, indication, isOfAttack, relationship } from './stix/entities.ts';
import { indicatorObjects } from './stix/indicators.ts';
import { attributeId, attributeObject, reportHead } from './stix/reports.ts';

/** Characters; an object has about a thousand. */
const PIECE_LENGTH = 32_768;

const COLUMNS = [
  ...(['id', 'type', 'value', 'confidence', 'severity', 'tlp', 'tags', 'source', 'firstSeen'] as const),
  ...([
    'lastSeen',
    'expiresAt',
    'createdAt',
    'modifiedAt',
    'forDetection',
    'ofCertificate',
    'externalIds',
    'records',
  ] as const),
];

/** The ends of relationships by the entity's id in Tipline. */
type Ends = ReadonlyMap<string, End>;

/**
 * A STIX 2.1 bundle, one object per line: it includes every object that another one refers to, but those of ATT&CK.
 * A CVE is a vulnerability, an indicator that is not for detection is observed data; with context, the entities and
 * their relationships are added.
 */
export function stixFormat({
  context,
  ids = 'own',
}: Pick<ExportOptions, 'context'> & Partial<Pick<ExportOptions, 'ids'>>): ExportFormat {
  const isOriginal = ids === 'original';
  return {
    mediaType: 'application/stix+json;version=2.1',
    extension: 'json',
    types: INDICATOR_TYPES,
    detectionOnly: false,
    order: 'list',
    columns: [
      ...COLUMNS,
      ...(context ? (['indicates'] as const) : []),
      ...(isOriginal ? (['originalIds'] as const) : []),
    ],
    reads: { context, reports: context, originalRefs: isOriginal },
    async *write(batches, info) {
      const name = [info.query, info.digest, ...(context ? ['context'] : []), ...(isOriginal ? [ids] : [])];
      const entities = context ? info.entities : [];
      const idsOfEntities = entityIds(entities);
      const idOf = (id: string) => idsOfEntities.get(id) ?? '';
      const ends: Ends = new Map(entities.map((entity) => [entity.id, { ...entity, id: idOf(entity.id) }]));
      yield `{"type":"bundle","id":"${bundleId(name.join('\n'))}","objects":[\n${JSON.stringify(TIPLINE_IDENTITY)}`;
      yield lines([TIPLINE_EXTENSION_DEFINITION, ...markings(info, context)]);
      for (const entity of entities)
        if (!isOfAttack(entity, idOf(entity.id))) yield lines([entityObject(entity, idOf(entity.id))]);
      if (context) yield* relationshipLines(info, ends);
      let text = '';
      for await (const batch of batches) {
        for (const row of batch) {
          text += lines(rowObjects(row, ends));
          if (text.length < PIECE_LENGTH) continue;
          yield text;
          text = '';
        }
      }
      yield text;
      if (context) yield* attributeLines(info, ends);
      if (context) yield* reportLines(info, ends);
      yield '\n]}\n';
    },
  };
}

export const stix: FormatEntry = {
  label: 'STIX 2.1 bundle',
  purpose: 'STIX 2.1 platforms; with `include=context` also actors, campaigns, malware and techniques',
  options: ['include', 'ids'],
  open: stixFormat,
};

/** Returns objects as lines, each after a comma, because the identity precedes them all. */
function lines(objects: readonly StixObject[]): string {
  return objects.map((object) => `,\n${JSON.stringify(object)}`).join('');
}

function markings({ tlps, relationships }: ExportInfo, context: boolean): StixObject[] {
  const used = new Set([...tlps, ...(context ? relationships.map(({ tlp }) => tlp) : [])]);
  return TLPS.filter((tlp) => used.has(tlp)).map(markingOf);
}

/** Only relationships between two objects of the bundle; two links can become one `related-to`. */
function* relationshipLines(info: ExportInfo, ends: Ends): Generator<string> {
  const written = new Set<string>();
  for (const { fromId, toId, type, tlp } of info.relationships) {
    const [from, to] = [ends.get(fromId), ends.get(toId)];
    if (from === undefined || to === undefined) continue;
    const object = relationship(from, type, to, tlp);
    if (!written.has(object.id)) yield lines([object]);
    written.add(object.id);
  }
}

/** Yields the attributes of reports, and their relationships to entities. */
async function* attributeLines({ attributes }: ExportInfo, ends: Ends): AsyncGenerator<string> {
  for await (const batch of attributes()) {
    for (const attribute of batch) {
      const object = attributeObject(attribute);
      if (object === null) continue;
      const self = { ...attribute, id: object.id };
      const indicated = attribute.indicates.flatMap(({ id, tlp }) => {
        const entity = ends.get(id);
        return entity === undefined ? [] : indication(self, entity, tlp);
      });
      yield lines([object, ...indicated]);
    }
  }
}

/** Yields the reports; one may refer to any number of indicators, so that it is written in parts. */
async function* reportLines({ reports }: ExportInfo, ends: Ends): AsyncGenerator<string> {
  let end = '';
  for await (const batch of reports()) {
    for (const { report, refs } of batch) {
      const entities = report?.entities.flatMap(({ id }) => ends.get(id)?.id ?? []) ?? [];
      const attributes = report?.attributes.map(attributeId) ?? [];
      const ids = JSON.stringify([...entities, ...attributes, ...refs.map(indicatorObjectId)]).slice(1, -1);
      yield report === null ? `,${ids}` : `${end},\n${reportHead(report)}${ids}`;
      end = ']}';
    }
  }
  yield end;
}

/** Returns an indicator and its relationships to entities of the bundle. */
function rowObjects(row: ExportIndicator, ends: Ends): StixObject[] {
  const objects = indicatorObjects(row);
  const [object] = objects;
  if (ends.size === 0) return objects;
  const self = { ...row, id: object.id };
  const indicated = row.indicates.flatMap(({ id, tlp }) => {
    const entity = ends.get(id);
    return entity === undefined ? [] : indication(self, entity, tlp);
  });
  return [...objects, ...indicated];
}
