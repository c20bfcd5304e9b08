import { type TSchema, Type } from 'typebox';
import { contentResponses } from '../http/routes.ts';
import { dateTime, ref } from '../http/schema.ts';
import { ROOT, STIX_TYPE, TAXII_TYPE } from './resources.ts';

const COLLECTION = '4e0f6b1c-7a0e-4f9d-8a55-0d9c2f6c1b7e';
const OBJECT = 'indicator--1574793d-629d-53da-872a-bf8eca156eef';
const ADDED = '2026-08-23T00:00:00.000004Z';

const text = (description: string) => Type.String({ description });
const more = Type.Optional(Type.Boolean({ description: 'Whether there is more; absent: no.' }));
const next = Type.Optional(text('The parameter `next` of the request for the rest.'));

const Discovery = Type.Object(
  {
    title: text('The name of the server.'),
    description: text('What the server has.'),
    default: text('The API root to use.'),
    api_roots: Type.Array(Type.String(), {
      description: 'The URLs of the API roots, absolute or of this server.',
    }),
  },
  {
    $id: 'TaxiiDiscovery',
    description: 'The API roots of the server (TAXII 2.1 §4.1.1).',
    examples: [
      { title: 'Tipline', description: 'Threat intelligence.', default: `${ROOT}/`, api_roots: [`${ROOT}/`] },
    ],
  },
);

const ApiRoot = Type.Object(
  {
    title: text('The name of the API root.'),
    description: text('What the API root has.'),
    versions: Type.Array(Type.String(), { description: 'The media types of the versions of TAXII.' }),
    max_content_length: Type.Integer({ description: 'The maximum size of the body of a request in bytes.' }),
  },
  {
    $id: 'TaxiiApiRoot',
    description: 'An API root (TAXII 2.1 §4.2.1).',
    examples: [
      { title: 'Tipline', description: 'Indicators.', versions: [TAXII_TYPE], max_content_length: 1024 },
    ],
  },
);

const collection = {
  id: COLLECTION,
  title: 'All indicators',
  description:
    'All indicators that the key can read, with actors, campaigns, techniques, software and their relationships.',
  alias: 'all',
  can_read: true,
  can_write: false,
  media_types: [STIX_TYPE],
};

const Collection = Type.Object(
  {
    id: text('The id.'),
    title: text('The name.'),
    description: Type.Optional(text('What the collection has.')),
    alias: text('A name that stands for the id in URLs.'),
    can_read: Type.Boolean({ description: 'Whether its objects can be read.' }),
    can_write: Type.Boolean({ description: 'Whether objects can be added.' }),
    media_types: Type.Array(Type.String(), { description: 'The media types of its objects.' }),
  },
  { $id: 'TaxiiCollection', description: 'A collection (TAXII 2.1 §5.2.1).', examples: [collection] },
);

const Collections = Type.Object(
  { collections: Type.Optional(Type.Array(ref(Collection), { description: 'Absent: there are none.' })) },
  {
    $id: 'TaxiiCollections',
    description: 'The collections that the key can read (TAXII 2.1 §5.1.1).',
    examples: [{ collections: [collection] }],
  },
);

const Envelope = Type.Object(
  {
    more,
    next,
    objects: Type.Optional(
      Type.Array(Type.Object({}, { additionalProperties: true }), {
        description: 'Objects of STIX 2.1; absent: there are none.',
      }),
    ),
  },
  {
    $id: 'TaxiiEnvelope',
    description: 'Objects of a collection (TAXII 2.1 §3.7).',
    examples: [
      {
        more: false,
        objects: [
          {
            type: 'indicator',
            spec_version: '2.1',
            id: OBJECT,
            created: '2026-08-23T00:00:00.000Z',
            modified: '2026-08-23T00:00:00.000Z',
            pattern: "[ipv4-addr:value = '185.132.17.160']",
            pattern_type: 'stix',
            valid_from: '2023-04-04T19:05:32.551Z',
          },
        ],
      },
    ],
  },
);

const ManifestRecord = Type.Object(
  {
    id: text('The id of the object.'),
    date_added: dateTime({ description: 'When it was added to the collection, or last changed.' }),
    version: text('Its version: when it was modified.'),
    media_type: text('Its media type.'),
  },
  {
    $id: 'TaxiiManifestRecord',
    description: 'A version of an object (TAXII 2.1 §5.3.1).',
  },
);

const Manifest = Type.Object(
  {
    more,
    next,
    objects: Type.Optional(Type.Array(ref(ManifestRecord), { description: 'Absent: there are none.' })),
  },
  {
    $id: 'TaxiiManifest',
    description: 'What a collection has, without the objects (TAXII 2.1 §5.3.1).',
    examples: [
      {
        more: false,
        objects: [
          { id: OBJECT, date_added: ADDED, version: '2026-08-23T00:00:00.000Z', media_type: STIX_TYPE },
        ],
      },
    ],
  },
);

const Versions = Type.Object(
  {
    more,
    versions: Type.Optional(Type.Array(Type.String(), { description: 'Absent: there are none.' })),
  },
  {
    $id: 'TaxiiVersions',
    description: 'The versions of an object (TAXII 2.1 §5.8.1): one of each is kept.',
    examples: [{ more: false, versions: ['2026-08-23T00:00:00.000Z'] }],
  },
);

const TaxiiError = Type.Object(
  {
    title: text('What is wrong, for a person.'),
    error_id: text('The id of the request, by which the log has it.'),
    error_code: text('What is wrong, for a program. Stable.'),
    http_status: text('The status of the response.'),
  },
  {
    $id: 'TaxiiError',
    description: 'Every error has this body (TAXII 2.1 §3.6.1).',
    examples: [
      {
        title: 'There is no such collection.',
        error_id: '6f5d1d0e-6a39-4c3f-9d43-1a3f0e0b8f57',
        error_code: 'not_found',
        http_status: '404',
      },
    ],
  },
);

export const TAXII_SCHEMAS = [
  Discovery,
  ApiRoot,
  Collection,
  Collections,
  Envelope,
  ManifestRecord,
  Manifest,
  Versions,
  TaxiiError,
];

const path = {
  collection: Type.String({ description: 'The id of the collection, or its alias.', examples: ['all'] }),
  object: Type.String({ description: 'The STIX id of the object.', examples: [OBJECT] }),
};

const addedHeader = (which: string) => ({
  type: 'string',
  format: 'date-time',
  description: `When the ${which} object was added; without objects, the time after which they were requested.`,
});
const DATES = {
  'X-TAXII-Date-Added-First': addedHeader('first'),
  'X-TAXII-Date-Added-Last': addedHeader('last'),
};

const responses = (
  resource: TSchema,
  description: string,
  errors: (400 | 404 | 410)[],
  headers: object = {},
) =>
  contentResponses({ [TAXII_TYPE]: { schema: ref(resource) } }, description, errors, headers, {
    [TAXII_TYPE]: { schema: ref(TaxiiError) },
  });

/** The description of each resource. */
export const OPERATIONS = {
  discovery: {
    operationId: 'getTaxiiDiscovery',
    summary: 'Find the API root',
    response: responses(Discovery, 'The API roots.', [400]),
  },
  root: {
    operationId: 'getTaxiiApiRoot',
    summary: 'Get the API root',
    response: responses(ApiRoot, 'The API root.', [400]),
  },
  collections: {
    operationId: 'listTaxiiCollections',
    summary: 'List the collections',
    description:
      'All indicators and those up to each TLP, with the actors, campaigns and relationships for which the key has scopes, and each saved ' +
      'feed: those that the scopes and the TLP ceiling of the key allow.',
    response: responses(Collections, 'The collections.', [400]),
  },
  collection: {
    operationId: 'getTaxiiCollection',
    summary: 'Get a collection',
    params: Type.Object({ collection: path.collection }),
    response: responses(Collection, 'The collection.', [400, 404]),
  },
  objects: {
    operationId: 'listTaxiiObjects',
    summary: 'Get the objects of a collection',
    description:
      'The oldest first. X-TAXII-Date-Added-Last is the `added_after` of the next request; `next` goes on within one. Objects that ' +
      'were whitelisted, restricted or deleted since come with their end, if the client may have them.',
    params: Type.Object({ collection: path.collection }),
    response: responses(Envelope, 'Objects.', [400, 404, 410], DATES),
  },
  manifest: {
    operationId: 'listTaxiiManifest',
    summary: 'Get the manifest of a collection',
    params: Type.Object({ collection: path.collection }),
    response: responses(Manifest, 'The ids, dates and versions of objects.', [400, 404, 410], DATES),
  },
  object: {
    operationId: 'getTaxiiObject',
    summary: 'Get an object of a collection',
    params: Type.Object(path),
    response: responses(Envelope, 'The object.', [400, 404], DATES),
  },
  versions: {
    operationId: 'listTaxiiVersions',
    summary: 'Get the versions of an object',
    params: Type.Object(path),
    response: responses(Versions, 'The versions.', [400, 404], DATES),
  },
} as const;
