import { Type } from 'typebox';
import { instant, instantOrNull, operation } from '../http/operation.ts';
import { mapOf, nullable, nullableEnum, pageParameters, score, stringEnum } from '../http/schema.ts';
import { IMPORTERS } from '../importers/recognize.ts';
import { SEVERITIES, TLPS } from '../model/vocabulary.ts';

const strict = { additionalProperties: false };
/** Without JSON of any form: that needs a map, which sources have. */
const FORMATS = ['auto', ...IMPORTERS.map(({ name }) => name)];

const Kind = Type.Object({
  read: Type.Integer(),
  new: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  rejected: Type.Integer(),
  /** How many were rejected for what reason. */
  reasons: mapOf(Type.Integer()),
});

const Run = Type.Object({
  id: Type.String(),
  source: Type.String(),
  fileName: Type.String(),
  fileBytes: Type.Integer(),
  format: Type.String(),
  dryRun: Type.Boolean(),
  who: Type.String(),
  /** `stopped`: the server ended meanwhile; what was read whole was kept. */
  state: stringEnum(['running', 'done', 'failed', 'stopped']),
  startedAt: instant,
  endedAt: instantOrNull,
  readBytes: Type.Integer(),
  /** Of the new and updated indicators: hidden by the whitelist. */
  hidden: Type.Integer(),
  problem: nullable(Type.String()),
  /** By kind of object. */
  counts: mapOf(Kind),
  /** How many of the rejected records are kept to be read. */
  storedRejections: Type.Integer(),
  /** Its source says again what it said before. */
  undo: nullableEnum(['running', 'done']),
  undoneBy: nullable(Type.String()),
  undoneAt: instantOrNull,
});

/** What would change. */
export const RestorePreview = Type.Object({
  /** By kind of object. */
  kinds: mapOf(
    Type.Object({
      /** Said as before, or no more. */
      restored: Type.Integer(),
      /** Of those: no source says them any more; they are hidden. */
      withdrawn: Type.Integer(),
      /** Left as they are: a later import of the same source has said them again. */
      restated: Type.Integer(),
    }),
  ),
  /** How many indicators are given out in all, now and then. */
  shown: Type.Object({ before: Type.Integer(), after: Type.Integer() }),
});

/** The file is the body, as it is. The answer comes when it has arrived and is recognized; reading it goes on. */
export const startImport = operation('POST /app/imports', {
  query: Type.Object(
    {
      fileName: Type.String({ minLength: 1, maxLength: 255 }),
      /** The source that says so; made when it is new, with the defaults that follow. */
      source: Type.String({ minLength: 1, maxLength: 200 }),
      format: stringEnum(FORMATS, { default: 'auto' }),
      dryRun: Type.Boolean({ default: true }),
      tlp: stringEnum(TLPS, { default: 'AMBER' }),
      confidence: score({ default: 50 }),
      severity: stringEnum(SEVERITIES, { default: 'MEDIUM' }),
    },
    strict,
  ),
  answer: Type.Object({ data: Run }),
});

/** The latest first. */
export const listImports = operation('GET /app/imports', {
  query: Type.Object(pageParameters(25, 200), strict),
  answer: Type.Object({
    data: Type.Array(Run),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
    /** The largest file that can be imported here, in bytes. */
    maxBytes: Type.Integer(),
  }),
});

export const readImport = operation('GET /app/imports/:id', { answer: Type.Object({ data: Run }) });

/** Ends it between two batches, wherever it runs. */
export const stopImport = operation('POST /app/imports/:id/stop', {
  answer: Type.Object({ done: Type.Literal(true) }),
});

/** What undoing it would change, as things are now. */
export const previewImportUndo = operation('GET /app/imports/:id/undo', {
  answer: Type.Object({ data: RestorePreview }),
});

/** Begins it; it goes on in batches. */
export const undoImport = operation('POST /app/imports/:id/undo', {
  answer: Type.Object({ done: Type.Literal(true) }),
});

export const listRejected = operation('GET /app/imports/:id/rejected', {
  query: Type.Object(pageParameters(50, 500), strict),
  answer: Type.Object({
    data: Type.Array(Type.Object({ where: Type.String(), reason: Type.String() })),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
  }),
});
