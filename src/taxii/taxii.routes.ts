import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { type Database, type Db, inSnapshot } from '../db/database.ts';
import { sendCompressed } from '../http/compressed.ts';
import { ApiError } from '../http/errors.ts';
import { KEY_OR_BASIC, NO_CACHE } from '../http/routes.ts';
import { applicantOf, openSlots } from '../http/slots.ts';
import type { Scope } from '../model/account.ts';
import { tokenSealer } from '../secrets/sealed-token.ts';
import { type Collection, listCollections } from './collections.ts';
import { type DatedObject, timestampOf, versionOf } from './dated-object.ts';
import { comparesAll, nextObjects, type Page } from './objects.ts';
import { openObservables } from './observables.ts';
import {
  ObjectQuery,
  ObjectsQuery,
  type PageQuery,
  type Query,
  readPageQuery,
  sealNext,
  VersionsQuery,
} from './parameters.ts';
import { openRelationships } from './relationship-objects.ts';
import { ROOT, STIX_TYPE, TAXII, TAXII_TYPE } from './resources.ts';
import { OPERATIONS } from './taxii.schema.ts';

/** The types that Accept may allow: some clients ask for STIX, of an earlier version too, or for JSON. */
const ACCEPTED = [
  TAXII_TYPE,
  STIX_TYPE,
  'application/json',
  'application/vnd.oasis.stix+json',
  'application/vnd.oasis.stix+json;version=2.0',
  'application/vnd.oasis.stix+json;version=2.1',
];
const SCOPES: readonly Scope[] = ['indicators:read', 'feeds:read'];

/** The number of requests that may wait for their turn to compare all objects of a kind. */
const MAX_WAITING = 16;

interface Options {
  database: Pick<Database, 'db' | 'read' | 'revisions'>;
  /** Encrypts `next`. */
  secret: string;
  /** The address of the server; null: URLs are relative to it. */
  publicAddress: string | null;
}

/** TAXII 2.1 (OASIS Standard, 10 June 2021), read-only: discovery, one API root and its collections. */
export const taxiiRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { database, publicAddress } = options;
  const sealer = tokenSealer(options.secret, 'next of TAXII');
  // A request that compares all objects of a kind takes a connection only when it is its turn.
  const comparing = openSlots({ count: 1, each: 1, maxWaiting: MAX_WAITING, busy });
  const { revisions } = database;
  const lookups = { observables: openObservables(revisions), relationships: openRelationships(revisions) };

  /** Registers a resource under its URL with the slash that the standard has, and without. */
  const get = (url: string, operation: keyof typeof OPERATIONS, querystring: TSchema | null, read: Read) => {
    for (const path of [url, url.replace(/\/$/, '')])
      app.get(
        path,
        {
          config: { access: SCOPES, mediaTypes: ACCEPTED, allowBasicAuth: () => true },
          schema: {
            ...(path === url
              ? { ...OPERATIONS[operation], tags: ['TAXII'], security: KEY_OR_BASIC }
              : { hide: true }),
            ...(querystring && { querystring }),
          },
        },
        async (request, reply) => {
          const body = JSON.stringify(await read(request, reply));
          reply.header('cache-control', NO_CACHE).type(TAXII_TYPE);
          return sendCompressed(request, reply, body);
        },
      );
  };

  /** Registers a request that would write: 403, as no collection can be written (§5.5, §5.7). Its body is not read. */
  const refuse = (method: 'POST' | 'DELETE', url: string) => {
    for (const path of [url, url.replace(/\/$/, '')])
      app.route({
        method,
        url: path,
        config: { access: SCOPES, mediaTypes: ACCEPTED, allowBasicAuth: () => true, isRefused: true },
        schema: { hide: true },
        onRequest: async (request) => {
          await findCollection(database.db, request);
          throw new ApiError('read_only', 'The collection is read-only.');
        },
        handler: () => undefined,
      });
  };

  get(`${TAXII}/`, 'discovery', null, async () => {
    // Absolute URLs must be HTTPS (§4.1.1).
    const root = `${publicAddress?.startsWith('https:') ? publicAddress : ''}${ROOT}/`;
    return {
      title: 'Tipline',
      description: 'The threat intelligence of this server, read-only.',
      default: root,
      api_roots: [root],
    };
  });

  get(`${ROOT}/`, 'root', null, async () => ({
    title: 'Tipline',
    description: 'Indicators, with actors, campaigns and their relationships, as STIX 2.1, read-only.',
    versions: [TAXII_TYPE],
    max_content_length: MAX_CONTENT,
  }));

  get(`${ROOT}/collections/`, 'collections', null, async (request) => {
    const collections = await collectionsOf(database.db, request);
    return collections.length === 0 ? {} : { collections: collections.map(toResource) };
  });

  const one = `${ROOT}/collections/:collection/`;
  get(one, 'collection', null, async (request) => toResource(await findCollection(database.db, request)));
  get(`${one}objects/`, 'objects', ObjectsQuery, async (request, reply) => {
    const page = await readPage(request, reply, true);
    return envelope(page, 'objects', toObject);
  });
  get(`${one}manifest/`, 'manifest', ObjectsQuery, async (request, reply) => {
    const page = await readPage(request, reply, false);
    return envelope(page, 'objects', toRecord);
  });
  get(`${one}objects/:object/`, 'object', ObjectQuery, async (request, reply) =>
    envelope(await readObject(request, reply), 'objects', toObject),
  );
  get(`${one}objects/:object/versions/`, 'versions', VersionsQuery, async (request, reply) =>
    envelope(await readObject(request, reply), 'versions', versionOf),
  );

  refuse('POST', `${one}objects/`);
  refuse('DELETE', `${one}objects/:object/`);

  /** Reads the next objects of the collection in the URL. @param withEnds whether also ends of those that the client may have */
  async function readPage(request: FastifyRequest, reply: FastifyReply, withEnds: boolean): Promise<Answer> {
    const collection = await findCollection(database.db, request);
    const query = readPageQuery(sealer, collection.id, request.query as Query);
    const page = await read(request, collection, query, withEnds);
    const last = page.objects.at(-1);
    const reached = { after: last?.date ?? query.reached.after, held: page.held };
    const next = page.hasMore ? sealNext(sealer, collection.id, { match: query.match, reached }) : null;
    return dated(reply, page.objects, next, query.reached.after);
  }

  /** Reads the object in the URL, if it is among those of the query. @throws {ApiError} 404 for none that is visible */
  async function readObject(request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const collection = await findCollection(database.db, request);
    const { match, reached } = readPageQuery(sealer, collection.id, request.query as Query);
    const id = [(request.params as { object: string }).object];
    const find = (more: PageQuery['match'], after: number | null) =>
      read(request, collection, { match: { ...more, id }, reached: { after, held: null }, limit: 1 }, false);
    if ((await find({}, null)).objects.length === 0)
      throw new ApiError('not_found', 'There is no such object in the collection.');
    return dated(reply, (await find(match, reached.after)).objects, null, reached.after);
  }

  const read = (
    request: FastifyRequest,
    { principal, filters, entityKinds, extentChange, formerFilters }: Collection,
    query: PageQuery,
    withEnds: boolean,
  ): Promise<Page> => {
    const inOneSnapshot = () =>
      database.read((db) =>
        inSnapshot(db, (snapshot) =>
          nextObjects(
            { db: snapshot, ...lookups },
            { principal, filters, entityKinds, extentChange, formerFilters, ...query, withEnds },
          ),
        ),
      );
    return comparesAll(lookups, { principal, entityKinds, match: query.match })
      ? comparing.run(applicantOf(request), inOneSnapshot)
      : inOneSnapshot();
  };
};

const busy = () =>
  new ApiError('service_unavailable', 'Too many requests for objects by id are waiting.', {
    'retry-after': '5',
  });

type Read = (request: FastifyRequest, reply: FastifyReply) => Promise<object>;

/** Nothing is accepted; the standard requires a positive number of bytes (§4.2). */
const MAX_CONTENT = 1_024;

interface Answer {
  objects: DatedObject[];
  next: string | null;
}

/**
 * Sets the headers with the times of the first and the last object (§3.2). Each response has them: without objects, the time
 * from which the client goes on.
 * @param after the time after which objects were requested, in microseconds since 1970; null: all
 */
function dated(
  reply: FastifyReply,
  objects: DatedObject[],
  next: string | null,
  after: number | null,
): Answer {
  const [first, last] = [objects[0], objects.at(-1)].map((object) => timestampOf(object?.date ?? after ?? 0));
  reply.headers({ 'x-taxii-date-added-first': first, 'x-taxii-date-added-last': last });
  return { objects, next };
}

/** Returns an envelope, a manifest or versions. Without items it is an empty object (§5.3.1, §5.8.1), as lists are never empty (§2). */
function envelope(
  { objects, next }: Answer,
  name: 'objects' | 'versions',
  toItem: (object: DatedObject) => unknown,
) {
  if (objects.length === 0) return {};
  return { more: next !== null, ...(next !== null && { next }), [name]: objects.map(toItem) };
}

const toObject = ({ object }: DatedObject) => object;

/** Returns a manifest record (§5.3.1). */
function toRecord(dated: DatedObject) {
  const { object, date } = dated;
  return { id: object.id, date_added: timestampOf(date), version: versionOf(dated), media_type: STIX_TYPE };
}

const collectionsOf = (db: Db, { principal, boundFeeds = [], scopes }: FastifyRequest) =>
  listCollections(db, { principal, boundFeeds, scopes });

/** @throws {ApiError} 404 for a collection that the key cannot read, whether or not it exists */
async function findCollection(db: Db, request: FastifyRequest): Promise<Collection> {
  const { collection: name } = request.params as { collection: string };
  const collections = await collectionsOf(db, request);
  const found = collections.find(({ id, alias }) => id === name.toLowerCase() || alias === name);
  if (!found) throw new ApiError('not_found', 'There is no such collection.');
  return found;
}

/** Returns a collection resource (§5.2.1). */
function toResource({ id, alias, title, description }: Collection) {
  return {
    id,
    title,
    ...(description && { description }),
    alias,
    can_read: true,
    can_write: false,
    media_types: [STIX_TYPE],
  };
}
