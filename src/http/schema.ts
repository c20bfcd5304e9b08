import { type Static, type TSchema, Type } from 'typebox';
import {
  CAMPAIGN_STATUSES,
  INDICATOR_TYPES,
  MOTIVATIONS,
  SEVERITIES,
  SOPHISTICATIONS,
  TLPS,
  VERDICTS,
} from '../model/vocabulary.ts';

/** Returns the schema of a string of a closed vocabulary. */
export function stringEnum<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

/**
 * Defines a named closed vocabulary. Fields and parameters contain it inline, which the validator and the serializer
 * use directly; the OpenAPI description contains it once, as the component with its name (`title`).
 * @returns a function for fields and parameters, with `schema`, which must be registered for the description
 */
export function namedEnum<const T extends readonly string[]>(name: string, values: T, description: string) {
  return Object.assign((options: object = {}) => stringEnum(values, { title: name, ...options }), {
    schema: stringEnum(values, { $id: name, description }),
  });
}

/** Returns the schema of `T | null` as a type array, which the serializer handles without trying alternatives. */
export function nullable<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { type: string; enum?: unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    type: [type, 'null'],
    ...(values && { enum: [...values, null] }),
  });
}

/** Returns the schema of null or a string of a closed vocabulary. */
export const nullableEnum = <const T extends readonly string[]>(values: T) => nullable(stringEnum(values));

/** Returns the schema of an object with arbitrary property names. */
export function mapOf<T extends TSchema>(value: T) {
  return Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value });
}

/** Returns a typed reference to a named schema. */
export function ref<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T>>({ $ref: `${(schema as { $id?: string }).$id}#` });
}

/** The pattern of texts that are not only blanks. */
export const NOT_BLANK = '\\S';

/** Returns the schema of a name in a request. */
export const nameText = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: NOT_BLANK });

export const dateTime = (options: object = {}) => Type.String({ format: 'date-time', ...options });
export const score = (options: object = {}) => Type.Integer({ minimum: 0, maximum: 100, ...options });

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'What is wrong, for a person.' }),
    code: Type.String({ description: 'What is wrong, for a program. Stable.' }),
  },
  {
    $id: 'Error',
    description: 'Every error has this body.',
    examples: [{ error: 'pageSize must be a whole number from 1 to 500.', code: 'invalid_parameter' }],
  },
);

/** Returns the schema of a page of a list. */
export function listOf<T extends TSchema>(item: T, id: string) {
  return Type.Object(
    {
      data: Type.Array(ref(item), { description: 'The items of the page.' }),
      page: Type.Integer({ minimum: 1, description: 'The page returned.' }),
      pageSize: Type.Integer({ minimum: 1, description: 'The page size used.' }),
      total: Type.Integer({ minimum: 0, description: 'How many items match, on all pages together.' }),
    },
    {
      $id: id,
      description: 'A page of a list.',
      examples: [{ data: examplesOf(item), page: 1, pageSize: 1, total: 1 }],
    },
  );
}

export function oneOf<T extends TSchema>(item: T, id: string) {
  const [data] = examplesOf(item);
  return Type.Object({ data: ref(item) }, { $id: id, description: 'One item.', examples: [{ data }] });
}

const examplesOf = (item: TSchema): unknown[] => (item as { examples?: unknown[] }).examples ?? [];

/** The maximum page number: the offset stays an exact number. */
const MAX_PAGE = 10 ** 12;

export function pageParameters(defaultSize: number, maxSize: number) {
  return {
    page: Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE,
      default: 1,
      description: 'Page number.',
      examples: [1],
    }),
    pageSize: Type.Integer({
      minimum: 1,
      maximum: maxSize,
      default: defaultSize,
      description: 'Items on a page.',
      examples: [10],
    }),
  };
}

/** Returns the page parameters of an export. Without them the export is complete, so they have no defaults. */
export function optionalPageParameters(maxSize: number) {
  return {
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'Only this page of the list.' }),
    ),
    pageSize: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxSize, description: 'Indicators on that page (100).' }),
    ),
  };
}

// The closed vocabularies of the model as fields and parameters of the API.

export const indicatorType = namedEnum(
  'IndicatorType',
  INDICATOR_TYPES,
  'Kind of observable: an address, domain or URL, the hash of a file (MD5, SHA1, SHA256), an e-mail address, a ' +
    'vulnerability (CVE), a Bitcoin address, a Windows registry key, a mutex, a file name, an HTTP user agent, or an ' +
    'autonomous system (ASN).',
);
export const severity = namedEnum(
  'Severity',
  SEVERITIES,
  'How much harm the indicator stands for, from INFO to CRITICAL.',
);
export const tlp = namedEnum(
  'Tlp',
  TLPS,
  'Sharing marking of TLP 2.0 (FIRST), from the widest to the narrowest audience. AMBER_STRICT is TLP:AMBER+STRICT.',
);
export const verdict = namedEnum(
  'Verdict',
  VERDICTS,
  'Judgement by score: MALICIOUS from 70, SUSPICIOUS from 30, BENIGN below, UNKNOWN without a score.',
);
export const motivation = namedEnum('Motivation', MOTIVATIONS, 'Why the threat actor acts.');
export const sophistication = namedEnum(
  'Sophistication',
  SOPHISTICATIONS,
  'How capable the threat actor is, from MINIMAL to STRATEGIC.',
);
export const campaignStatus = namedEnum('CampaignStatus', CAMPAIGN_STATUSES, 'State of a campaign.');

export const VOCABULARIES = [
  indicatorType,
  severity,
  tlp,
  verdict,
  motivation,
  sophistication,
  campaignStatus,
].map(({ schema }) => schema);

// Ids of objects of the sample data, so that the examples of the OpenAPI description work in the demo. They are
// derived from the content of the sample, and so are the same in every store.

export const INDICATOR_OF_SAMPLE = '1574793d-629d-53da-872a-bf8eca156eef';
export const SAMPLE_ACTOR_ID = 'bef4c620-0787-42a8-a96d-b7eb6e85917c';
export const SAMPLE_CAMPAIGN_ID = '16efdab8-cb72-4a4a-b463-0a2a7e739d94';
/** A campaign of the sample that is attributed to an actor. */
export const SAMPLE_ATTRIBUTED_CAMPAIGN_ID = 'a010610e-22cb-437e-bfde-b78861bdca7a';
