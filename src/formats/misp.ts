import { uuidv5 } from '../model/identity.ts';
import { mostRestrictive } from '../model/statement.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import type { ExportFormat, ExportInfo, ExportOptions, FormatEntry } from './format.ts';
import { MISP_COLUMNS, type MispEvent, writeEvent } from './misp/attribute.ts';
import { galaxyTags } from './misp/tags.ts';

/** Must never change: the same query always has the same event in MISP. */
const EVENT_NAMESPACE = 'cafeff93-e8d8-45e7-afe5-b85d6b53bbe6';

/** MISP has an attribute type for every indicator type. */
const MISP_TYPES = INDICATOR_TYPES;

/**
 * One event in MISP's core format (draft-dulaunoy-misp-core-format), as MISP itself exports it. With context,
 * the attributes carry galaxy tags of the entities that they indicate.
 */
export function mispFormat({ context }: Pick<ExportOptions, 'context'>): ExportFormat {
  return {
    mediaType: 'application/json; charset=utf-8',
    extension: 'json',
    types: MISP_TYPES,
    detectionOnly: false,
    order: 'list',
    columns: context ? [...MISP_COLUMNS, 'indicates'] : MISP_COLUMNS,
    reads: { context, lastSeen: true, changedAt: true },
    write: (batches, info) => writeEvent(eventOf(info), batches, galaxyTags(context ? info.entities : [])),
  };
}

export const misp: FormatEntry = {
  label: 'MISP event',
  purpose: 'MISP, as an event',
  options: ['include'],
  open: mispFormat,
};

function eventOf({ query, lastSeen, changedAt, tlps }: ExportInfo): MispEvent {
  return {
    uuid: uuidv5(query, EVENT_NAMESPACE),
    info: query === '' ? 'Tipline: all indicators' : `Tipline: ${query}`,
    lastSeen,
    changedAt,
    tlp: tlps.length === 0 ? null : mostRestrictive(tlps),
  };
}
