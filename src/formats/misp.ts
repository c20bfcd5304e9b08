import { uuidv5 } from '../model/identity.ts';
import { mostRestrictive } from '../model/statement.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import type {
  ExportFormat,
  ExportInfo,
  ExportOptions,
  ExportShape,
  FormatEntry,
  MispGroup,
  RowGroup,
} from './format.ts';
import { MISP_COLUMNS, type MispEvent, writeEvent } from './misp/attribute.ts';
import { originalUuid, writeEvents } from './misp/events.ts';
import { galaxyTags } from './misp/tags.ts';

/** Must never change: the same query, or feed, always has the same event in MISP. */
const EVENT_NAMESPACE = 'cafeff93-e8d8-45e7-afe5-b85d6b53bbe6';

/** MISP has an attribute type for every indicator type. */
const MISP_TYPES = INDICATOR_TYPES;

/** MISP shows events with more attributes slowly. */
const MAX_ATTRIBUTES = 10_000;

type MispOptions = Pick<ExportOptions, 'context'> &
  Partial<Pick<ExportOptions, 'group' | 'ids' | 'event' | 'publicAddress'>>;

/**
 * One event in MISP's core format (draft-dulaunoy-misp-core-format), as MISP itself exports it, or one for each group.
 * With context, the attributes carry galaxy tags of the entities that they indicate.
 */
export function mispFormat({
  context,
  group = null,
  ids = 'own',
  event = null,
  publicAddress = null,
}: MispOptions): ExportFormat {
  const originalIds = ids === 'original';
  return {
    ...mispRows({ context, group }),
    columns: [
      ...MISP_COLUMNS,
      ...(context ? (['indicates'] as const) : []),
      ...(originalIds ? (['originalIds'] as const) : []),
      ...(group ? (['group'] as const) : []),
    ],
    mediaType: 'application/json; charset=utf-8',
    extension: 'json',
    write(batches, info) {
      const galaxies = galaxyTags(context || group ? info.entities : []);
      const key = event?.key ?? info.query;
      if (group === null) return writeEvent(eventOf(info, key, event?.title), batches, galaxies, originalIds);
      const uuidOf = (of: RowGroup) =>
        (originalIds && originalUuid(of.head?.report ?? null)) ||
        uuidv5(`${key}\n${group}:${of.id}`, EVENT_NAMESPACE);
      return writeEvents(batches, {
        galaxies,
        context,
        changedAt: info.changedAt,
        uuidOf,
        originalIds,
        publicAddress,
      });
    },
  };
}

/** Which rows an event or a group of events gets. */
function mispRows({ context, group }: { context: boolean; group: MispGroup | null }): ExportShape {
  const hasEntities = group === 'campaign' || group === 'report';
  return {
    types: MISP_TYPES,
    detectionOnly: false,
    order: 'list',
    ...(group && { group: { by: group, isDivided: false, hasHeads: true } }),
    columns: [...MISP_COLUMNS, ...(group ? (['group'] as const) : [])],
    reads: {
      context: context || hasEntities,
      reportStates: group === 'report',
      lastSeen: true,
      changedAt: true,
    },
  };
}

export const misp: FormatEntry = {
  label: 'MISP event',
  purpose: 'MISP, as an event, or as events by source, campaign or report (`group`)',
  options: ['include', 'group', 'ids'],
  open: mispFormat,
};

/** @param key from which the uuid derives @param title for readers who may not see the filters; absent: the filters */
function eventOf(
  { query, lastSeen, changedAt, tlps, rows }: ExportInfo,
  key: string,
  title: string | undefined,
): MispEvent {
  const name = `Tipline: ${title ?? (query === '' ? 'all indicators' : query)}`;
  const isLarge = rows > MAX_ATTRIBUTES;
  return {
    uuid: uuidv5(key, EVENT_NAMESPACE),
    info: isLarge
      ? `${name} (${rows} attributes: MISP is slow with so many; add the feed /api/v1/feeds/misp instead)`
      : name,
    date: lastSeen,
    changedAt,
    tlp: tlps.length === 0 ? null : mostRestrictive(tlps),
  };
}
