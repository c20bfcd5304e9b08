import { Type } from 'typebox';
import { instantOrNull, operation } from '../http/operation.ts';
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

/** Of the last run that found anything: indicators, and the other objects together. */
const RunCounts = Type.Object({
  ...counts,
  hidden: Type.Integer(),
  left: Type.Integer(),
  others: Type.Object(counts),
  reasons: mapOf(Type.Integer()),
});

const Source = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** A feed kind, or `import` or `sample`: those are not fetched. */
  kind: Type.String(),
  /** From an address, by itself. */
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

/** By name. */
export const listSources = operation('GET /app/sources', {
  answer: Type.Object({ data: Type.Array(Source) }),
});

/** Has it fetched with the next look of a worker. */
export const fetchSource = operation('POST /app/sources/:id/fetch', {
  answer: Type.Object({ done: Type.Literal(true) }),
});

/** What removing it would change, as things are now. */
export const previewSourceRemoval = operation('GET /app/sources/:id/removal', {
  answer: Type.Object({ data: RestorePreview }),
});

/** Begins it; it goes on in batches. */
export const removeSource = operation('POST /app/sources/:id/remove', {
  answer: Type.Object({ done: Type.Literal(true) }),
});
