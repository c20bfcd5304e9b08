import { Type } from 'typebox';
import { instantOrNull, operation } from '../http/routes.ts';
import { mapOf, nullable, score, stringEnum } from '../http/schema.ts';
import { RestorePreview } from '../imports/imports.schema.ts';
import { SEVERITIES, TLPS } from '../model/vocabulary.ts';

const counts = {
  read: Type.Integer(),
  new: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  rejected: Type.Integer(),
};

/** Counts of the last run that found changes: those of indicators, and those of all other objects together. */
const RunCounts = Type.Object({
  ...counts,
  hidden: Type.Integer(),
  left: Type.Integer(),
  heldBack: Type.Optional(Type.Integer()),
  /** The slugs of those feeds that the account sees. */
  heldBackFeeds: Type.Optional(Type.Array(Type.String())),
  others: Type.Object(counts),
  reasons: mapOf(Type.Integer()),
});

const Source = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** A feed kind, or `import` or `sample`, which are not fetched. */
  kind: Type.String(),
  /** Whether the source has an address that it is fetched from. */
  isFetched: Type.Boolean(),
  intervalSeconds: nullable(Type.Integer()),
  enabled: Type.Boolean(),
  defaults: Type.Object({ tlp: stringEnum(TLPS), confidence: score(), severity: stringEnum(SEVERITIES) }),
  health: Type.Object({
    lastRunAt: instantOrNull,
    lastSuccessAt: instantOrNull,
    lastError: nullable(Type.String()),
    errorsInARow: Type.Integer(),
    nextRunAt: instantOrNull,
    lastCounts: Type.Union([RunCounts, Type.Null()]),
  }),
});

/** Lists the sources by name. */
export const listSources = operation('GET /app/sources', {
  answer: Type.Object({ data: Type.Array(Source) }),
});

/** Makes a source due, so that a worker fetches it at its next check. */
export const fetchSource = operation('POST /app/sources/:id/fetch', {
  answer: Type.Object({ done: Type.Literal(true) }),
});

/** Returns the changes that the removal would make now. */
export const previewSourceRemoval = operation('GET /app/sources/:id/removal', {
  answer: Type.Object({ data: RestorePreview }),
});

/** Starts the removal of a source, which continues in batches. */
export const removeSource = operation('POST /app/sources/:id/remove', {
  answer: Type.Object({ done: Type.Literal(true) }),
});
