import { Type } from 'typebox';
import { DEFAULT_OPTIONS, FORMAT_NAMES, FORMATS } from '../formats/catalogue.ts';
import { LIMIT_ORDERS, MAX_LINES, MISP_GROUPS, STYLES } from '../formats/format.ts';
import { FILE_NAME_HEADER, fileResponses } from '../http/routes.ts';
import { namedEnum, ref, stringEnum } from '../http/schema.ts';

/** MISP defines these formats; the schemas describe what clients need for orientation. */
export const MispManifest = Type.Object(
  {},
  {
    $id: 'MispManifest',
    additionalProperties: true,
    description: 'manifest.json of a MISP feed: what MISP shows of an event, by the event’s uuid.',
    examples: [
      {
        'c3bc72fb-38cc-5926-9cb5-08bb29533f02': {
          info: 'Tipline: indicators 0 to 1999',
          date: '2026-08-23',
          timestamp: '1795523178',
          threat_level_id: '4',
          analysis: '2',
          Orgc: { name: 'Tipline', uuid: 'b481c7f0-7328-4f19-bb9e-cfdbe994d43d' },
          Tag: [{ name: 'tlp:clear', colour: '#ffffff' }],
        },
      },
    ],
  },
);

export const MispEvent = Type.Object(
  {
    Event: Type.Object(
      {
        uuid: Type.String({ description: 'Equal requests have equal ids.' }),
        info: Type.String({ description: 'What the event is about.' }),
        Attribute: Type.Array(Type.Object({}, { additionalProperties: true }), {
          description: 'The indicators, as MISP’s attributes.',
        }),
      },
      { additionalProperties: true, description: 'The event, with whatever else MISP’s core format has.' },
    ),
  },
  {
    $id: 'MispEvent',
    description: 'An event in MISP’s core format.',
    examples: [
      {
        Event: {
          uuid: '3cfa62f1-6628-5765-a93b-f56f69e8db5d',
          info: 'Tipline: q=185.132.17.160',
          date: '2026-08-23',
          timestamp: '1795523179',
          threat_level_id: '4',
          analysis: '2',
          published: true,
          distribution: '0',
          Attribute: [
            {
              type: 'ip-dst',
              category: 'Network activity',
              to_ids: true,
              uuid: '98471873-9c5a-573a-b43a-2b4a998ff9bf',
              timestamp: '1795523106',
              value: '185.132.17.160',
              Tag: [{ name: 'tlp:clear', colour: '#ffffff' }],
            },
          ],
        },
      },
    ],
  },
);

export const MispExport = Type.Union(
  [
    ref(MispEvent),
    Type.Object({
      response: Type.Array(ref(MispEvent), { description: 'With `group`: an event for each group.' }),
    }),
  ],
  {
    $id: 'MispExport',
    description: 'One event, or with `group` several.',
    examples: (MispEvent as { examples?: unknown[] }).examples ?? [],
  },
);

export const exportFormat = namedEnum(
  'ExportFormat',
  FORMAT_NAMES,
  `Format of an export: ${FORMAT_NAMES.map((name) => `${name} (${FORMATS[name].label})`).join(', ')}.`,
);

export const exportStyle = namedEnum(
  'ExportStyle',
  STYLES,
  'The product that a list is for: any (plain), PAN-OS, FortiOS, Check Point, Wazuh CDB lists, lookups of Splunk Enterprise Security, reference sets of QRadar, or a file for nft, ipset, RouterOS, nginx, dnsmasq, unbound or Squid, or hosts(5); or an archive of rules with lists, for Suricata (datasets), Suricata 8 (datasets-ndjson) or Snort (reputation).',
);

export const mispGroup = namedEnum(
  'MispGroup',
  MISP_GROUPS,
  'The kind of group that each event of a MISP export has: a source, campaign, report or range of numbers.',
);

export const exportIds = namedEnum(
  'ExportIds',
  ['own', 'original'],
  'Which ids the objects of an export have: Tipline’s, or those of the sources’ objects.',
);

const limitOrder = (options: object) => stringEnum(LIMIT_ORDERS, options);

/** Options of an export besides the format. */
export const exportOptions = {
  csvGuard: Type.Optional(
    stringEnum(['on', 'off'], {
      description:
        'csv: whether cells that a spreadsheet would run as a formula get an apostrophe in front (on).',
    }),
  ),
  style: Type.Optional(
    exportStyle({
      description:
        'txt: the product that the list is for (plain). suricata: datasets or datasets-ndjson, snort: reputation: a zip archive of rules with lists, for many indicators.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LINES,
      description:
        'At most so many indicators, and lines of a txt list, for a product that takes no more: those that come first in `order`.',
    }),
  ),
  order: Type.Optional(
    limitOrder({
      description: 'With limit: the highest confidence first (confidence), or the newest sighting.',
    }),
  ),
  collapse: Type.Optional(
    stringEnum(['on', 'off'], {
      description:
        'txt: whether adjacent addresses are joined into networks (on, where the style takes networks).',
    }),
  ),
  wildcards: Type.Optional(
    stringEnum(['on', 'off'], {
      description:
        'txt, lists of domains for paloalto and fortinet: whether each domain also has a line with `*.` in front (on).',
    }),
  ),
  include: Type.Optional(
    stringEnum(['context'], {
      description:
        'stix, misp: with the actors, campaigns, malware and techniques that the indicators are linked to; stix: and with the reports.',
    }),
  ),
  group: Type.Optional(
    mispGroup({
      description:
        'misp: one event for each source, campaign, report or range of numbers, as `{"response": [{"Event": …}]}`; an indicator is in each of its events.',
    }),
  ),
  ids: Type.Optional(
    exportIds({
      description:
        'stix, misp: Tipline’s ids (own), or those of the sources’ objects and attributes where one gives exactly one indicator.',
    }),
  ),
};

export const StixBundle = Type.Object(
  {
    type: stringEnum(['bundle'], { description: 'What it is.' }),
    id: Type.String({ description: 'Equal requests have equal ids.' }),
    objects: Type.Array(Type.Object({}, { additionalProperties: true }), {
      description: 'STIX objects: markings, identities, indicators, and what they are linked to.',
    }),
  },
  {
    $id: 'StixBundle',
    description: 'A bundle of STIX 2.1.',
    examples: [
      {
        type: 'bundle',
        id: 'bundle--27b15222-2cd6-5c88-9b5e-9f186710b953',
        objects: [
          {
            type: 'indicator',
            spec_version: '2.1',
            id: 'indicator--1574793d-629d-53da-872a-bf8eca156eef',
            created: '2026-08-23T00:00:00.000Z',
            modified: '2026-08-23T00:00:00.000Z',
            name: '185.132.17.160',
            indicator_types: ['malicious-activity'],
            pattern: "[ipv4-addr:value = '185.132.17.160']",
            pattern_type: 'stix',
            valid_from: '2023-04-04T19:05:32.551Z',
            confidence: 80,
          },
        ],
      },
    ],
  },
);

/** Schemas of the media types that are not text. */
const OBJECTS: Record<string, typeof StixBundle | typeof MispExport> = {
  'application/stix+json': StixBundle,
  'application/json': MispExport,
};
/** The media type of archives. */
const ARCHIVE = 'application/zip';

/** Returns the media types of all formats, without parameters, with the first example of each. */
function mediaTypes(): Map<string, string | undefined> {
  const examples = new Map<string, string | undefined>();
  for (const { open, example } of Object.values(FORMATS)) {
    const [type = ''] = open(DEFAULT_OPTIONS).mediaType.split(';');
    examples.set(type, examples.get(type) ?? example);
  }
  // The signature that every archive begins with.
  return examples.set(ARCHIVE, 'PK\u0003\u0004');
}

export const REFANGED_HEADER = {
  'X-Query-Refanged': {
    type: 'string',
    description: 'Where `q` was looked for in its refanged form too: that form, percent-encoded (RFC 3986).',
  },
};

export const CHANGE_CURSOR_HEADER = {
  'X-Change-Cursor': {
    type: 'string',
    description:
      'For GET /api/v1/indicators/changes: the changes since this response. Only with a response that has everything that matches.',
  },
};

export const EXPORT_HEADERS = {
  ...CHANGE_CURSOR_HEADER,
  'X-Total-Count': { type: 'integer', description: 'How many indicators match.' },
  'X-Skipped': {
    type: 'string',
    description:
      'How many of them the format leaves out and, as parameters, why: `5;cve=3;not-for-detection=2`. A trailer when ' +
      'this is known only at the end of the export: the first time that a format is written that omits single values.',
  },
  'X-Whitelisted-Parts': {
    type: 'integer',
    description:
      'How many whitelisted addresses and networks lists and rules leave out of the networks that they contain; absent: ' +
      'none, or not known before the export has been written once.',
  },
};

export const exportResponses = () =>
  fileResponses(
    Object.fromEntries(
      [...mediaTypes()].map(([type, example]) => {
        const object = OBJECTS[type];
        return [
          type,
          object
            ? { schema: ref(object), example: (object as { examples?: unknown[] }).examples?.[0] }
            : { schema: { type: 'string' }, example },
        ];
      }),
    ),
    'The export, in the media type of its format.',
    [400, 404],
    { ...REFANGED_HEADER, ...EXPORT_HEADERS, ...FILE_NAME_HEADER },
  );
