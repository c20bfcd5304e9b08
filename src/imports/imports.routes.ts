import type { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { bulkhead } from 'cockatiel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { requireFullVisibility } from '../http/admit.ts';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/routes.ts';
import { UnreadableInput } from '../importers/importer.ts';
import type { OpenImporter } from '../importers/parser-threads.ts';
import { fileInput, IMPORTERS, recognizeFormat } from '../importers/recognize.ts';
import { compareTlp } from '../model/statement.ts';
import { createCounts, type WidestNetworks } from './import-context.ts';
import { countRuns, findRejected, findRun, findRuns } from './import-runs.queries.ts';
import { recordRun, stopRun } from './import-runs.service.ts';
import * as operations from './imports.schema.ts';
import { previewUndo, runPendingUndos, startUndo, UndoError } from './undo.service.ts';
import { receiveUpload, removeOldUploads, runUpload, tooLarge, type Upload } from './uploads.ts';

interface Deps {
  database: Pick<Database, 'db'>;
  clock: Clock;
  by(request: FastifyRequest): AuditActor;
  /** The directory for uploaded files. */
  directory: string;
  maxBytes: number;
  widest: WidestNetworks;
  openImporter: OpenImporter;
}

/** The maximum number of concurrent imports: each uses memory, and they take turns to write. */
const MAX_CONCURRENT = 2;
/** The maximum number of rejected records that are stored with their places. */
const MAX_REJECTED = 1_000;

export async function importRoutes(instance: FastifyInstance, deps: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { db } = deps.database;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const restoring = new Set<Promise<void>>();
  const turns = bulkhead(MAX_CONCURRENT, Number.POSITIVE_INFINITY);
  /** The ids of accounts that are uploading a file. */
  const sending = new Set<string>();
  await removeOldUploads(deps.directory, deps.clock());
  app.addHook('onClose', async () => {
    stopping.abort();
    await Promise.all([...running, ...restoring]);
  });
  await app.register(async (files) => {
    // Files are streamed: the other parsers read the whole body into memory.
    files.removeAllContentTypeParsers();
    files.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
    const { schema: upload, ...start } = routeOf(operations.startImport, 'analyst');
    const { body: _, ...schema } = upload;
    files.withTypeProvider<TypeBoxTypeProvider>().route({
      ...start,
      bodyLimit: Number.MAX_SAFE_INTEGER,
      schema,
      handler: async (request) => {
        const { id } = request.account;
        if (running.size >= MAX_CONCURRENT)
          throw new ApiError('conflict', `${MAX_CONCURRENT} imports are under way; wait for one to end.`);
        if (sending.has(id))
          throw new ApiError('conflict', 'You are sending a file already; wait until it has arrived.');
        sending.add(id);
        try {
          return { data: await begin(request.query, request) };
        } finally {
          sending.delete(id);
        }
      },
    });
  });

  async function begin(query: Query, request: FastifyRequest) {
    if (typeof (request.body as Readable | undefined)?.pipe !== 'function')
      throw new ApiError('bad_request', 'The file is the body of the request, as application/octet-stream.');
    if (compareTlp(query.tlp, request.principal.tlpCeiling) > 0)
      throw new ApiError('insufficient_role', 'tlp must not be above the TLP ceiling of your role.');
    if (Number(request.headers['content-length']) > deps.maxBytes) throw tooLarge(deps.maxBytes);
    const file = await receiveUpload(request.body as Readable, deps.directory, deps.maxBytes);
    try {
      const importer = deps.openImporter(await formatOf(file, query));
      const { source, fileName, dryRun, format: __, ...defaults } = query;
      const wanted = { source, fileName, fileBytes: file.bytes, format: importer.name, dryRun };
      const counts = createCounts(MAX_REJECTED);
      const log = (err: unknown) => request.log.error({ err }, 'import');
      const run = await recordRun(db, wanted, counts, deps.by(request), log);
      const tlpCeiling = request.principal.tlpCeiling;
      // More uploads than the maximum may have been accepted at the same time: the last of them wait.
      const work = turns.execute(() =>
        runUpload(
          { db, clock: deps.clock, signal: stopping.signal, log },
          {
            source,
            fileName,
            dryRun,
            file,
            importer,
            defaults,
            counts,
            run,
            tlpCeiling,
            widest: deps.widest,
          },
        ),
      );
      running.add(work);
      void work.finally(() => running.delete(work));
      return await found(run.id);
    } catch (error) {
      await file.dispose();
      throw error;
    }
  }

  async function found(id: string) {
    const run = await findRun(db, id);
    if (!run) throw new ApiError('not_found', 'There is no such import.');
    return run;
  }

  app.route({
    ...routeOf(operations.stopImport, 'analyst'),
    handler: async (request) => {
      if (!(await stopRun(db, idOf(request), deps.by(request))))
        throw new ApiError('conflict', 'This import does not run.');
      return { done: true as const };
    },
  });

  app.route({
    ...routeOf(operations.previewImportUndo, 'administrator'),
    handler: async (request) => {
      requireFullVisibility(request);
      return { data: await previewUndo(db, idOf(request), deps.clock()).catch(asApiError) };
    },
  });

  app.route({
    ...routeOf(operations.undoImport, 'administrator'),
    handler: async (request) => {
      requireFullVisibility(request);
      await startUndo(db, idOf(request), deps.by(request)).catch(asApiError);
      const stopped = () => stopping.signal.aborted;
      // A worker continues an undo that this process does not complete.
      const work = runPendingUndos(db, { now: deps.clock, stopped }).catch((err: unknown) =>
        request.log.error({ err }, 'undoing an import'),
      );
      restoring.add(work);
      void work.finally(() => restoring.delete(work));
      return { done: true as const };
    },
  });

  app.route({
    ...routeOf(operations.listImports, 'viewer'),
    handler: async (request) => {
      const { page, pageSize } = request.query;
      const data = await findRuns(db, { limit: pageSize, offset: (page - 1) * pageSize });
      return { data, page, pageSize, total: await countRuns(db), maxBytes: deps.maxBytes };
    },
  });

  app.route({
    ...routeOf(operations.readImport, 'viewer'),
    handler: async (request) => ({ data: await found(idOf(request)) }),
  });

  app.route({
    ...routeOf(operations.listRejected, 'analyst'),
    handler: async (request) => {
      const { page, pageSize } = request.query;
      const { id, storedRejections } = await found(idOf(request));
      const data = await findRejected(db, id, { limit: pageSize, offset: (page - 1) * pageSize });
      return { data, page, pageSize, total: storedRejections };
    },
  });
}

function asApiError(error: unknown): never {
  throw error instanceof UndoError ? new ApiError('conflict', error.message) : error;
}

type Query = Static<typeof operations.startImport.query>;

/** @throws {ApiError} when the format of the file is not recognized */
async function formatOf(file: Upload, { format, fileName }: Query): Promise<string> {
  const known = IMPORTERS.find(({ name }) => name === format);
  if (known) return known.name;
  const unknown = 'The file is not of a format that can be recognized; choose its format.';
  try {
    const importer = await recognizeFormat(fileInput({ path: file.path, fileName }));
    if (importer) return importer.name;
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    throw new ApiError('invalid_parameter', `${fileName}: ${error.message}.`);
  }
  throw new ApiError('invalid_parameter', unknown);
}
