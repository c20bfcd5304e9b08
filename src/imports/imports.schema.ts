import { Type } from 'typebox';
import { instant, instantOrNull, operation } from '../http/routes.ts';
import {
  mapOf,
  nameText,
  nullable,
  nullableEnum,
  pageParameters,
  score,
  stringEnum,
} from '../http/schema.ts';
import { IMPORTERS } from '../importers/recognize.ts';
import { SEVERITIES, TLPS } from '../model/vocabulary.ts';

const strict = { additionalProperties: false };
/** The formats of uploads. Generic JSON is excluded: it needs a path map, and an upload has none. */
const FORMATS = ['auto', ...IMPORTERS.map(({ name }) => name)];

const Kind = Type.Object({
  read: Type.Integer(),
  new: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  rejected: Type.Integer(),
  /** The number of rejected records by reason. */
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
  /** `stopped`: a user stopped it, or the server ended during it; complete records before that were imported. */
  state: stringEnum(['running', 'done', 'failed', 'stopped']),
  startedAt: instant,
  endedAt: instantOrNull,
  readBytes: Type.Integer(),
  /** New and updated indicators that the whitelist hides. */
  hidden: Type.Integer(),
  problem: nullable(Type.String()),
  /** Counts by kind of object. */
  counts: mapOf(Kind),
  /** The number of rejected records that are stored. */
  storedRejections: Type.Integer(),
  /** The state of the undo; null: it was not requested. */
  undo: nullableEnum(['running', 'done']),
  undoneBy: nullable(Type.String()),
  undoneAt: instantOrNull,
});

/** The changes that the undo of an import or the removal of a source would make. */
export const RestorePreview = Type.Object({
  /** Counts by kind of object. */
  kinds: mapOf(
    Type.Object({
      /** Objects whose earlier statement is restored, or whose statement is deleted. */
      restored: Type.Integer(),
      /** Those of them that no source states any more; they are hidden. */
      withdrawn: Type.Integer(),
      /** Objects that stay unchanged: a later import of the same source has restated them. */
      restated: Type.Integer(),
    }),
  ),
  /** The total number of visible indicators, before and after. */
  shown: Type.Object({ before: Type.Integer(), after: Type.Integer() }),
});

/**
 * Starts an import; the body is the file. The response is sent when the file has arrived and its format is recognized;
 * the import continues after it.
 */
export const startImport = operation('POST /app/imports', {
  query: Type.Object(
    {
      fileName: nameText(255),
      /** The name of the source; a new one is created with the defaults that follow. */
      source: nameText(200),
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

/** Lists imports, the latest first. */
export const listImports = operation('GET /app/imports', {
  query: Type.Object(pageParameters(25, 200), strict),
  answer: Type.Object({
    data: Type.Array(Run),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
    /** The maximum size of an uploaded file, in bytes. */
    maxBytes: Type.Integer(),
  }),
});

export const readImport = operation('GET /app/imports/:id', { answer: Type.Object({ data: Run }) });

/** Stops an import between two batches, on any node. */
export const stopImport = operation('POST /app/imports/:id/stop', {
  answer: Type.Object({ done: Type.Literal(true) }),
});

/** Returns the changes that the undo would make now. */
export const previewImportUndo = operation('GET /app/imports/:id/undo', {
  answer: Type.Object({ data: RestorePreview }),
});

/** Starts the undo of an import, which continues in batches. */
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
