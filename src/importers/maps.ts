import { type Static, Type } from 'typebox';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';

/** `address`: IPv4 or IPv6, depending on the value. */
export type MappedType = IndicatorType | 'address';

const mappedType = (description: string) =>
  Type.Unsafe<MappedType>({ type: 'string', enum: [...INDICATOR_TYPES, 'address'], description });

const column = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 256 }), Type.Integer({ minimum: 1, maximum: 10_000 })], {
    description: `${description} Its name, letter case aside, or its number from 1.`,
  });

const path = (description: string) => Type.String({ minLength: 1, maxLength: 512, description });

const CLOSED = { additionalProperties: false };

/** The meaning of the columns of a CSV whose names do not state it. */
export const CsvMap = Type.Object(
  {
    delimiter: Type.Optional(
      Type.String({
        pattern: '^[^"\\r\\n#]$',
        description: 'One character; found out by looking when left out.',
      }),
    ),
    hasHeader: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'The first row, or the last comment before it, holds names.',
      }),
    ),
    values: Type.Array(
      Type.Object(
        {
          column: column('The column of the observable.'),
          type: Type.Optional(
            mappedType('What it holds; when left out, typeColumn or the value itself says it.'),
          ),
        },
        CLOSED,
      ),
      { minItems: 1, maxItems: 32, description: 'Each gives an indicator a row, where it is not empty.' },
    ),
    typeColumn: Type.Optional(column('The type, in a word such as `domain`, of the values that state none.')),
    firstSeen: Type.Optional(column('When it was first seen.')),
    lastSeen: Type.Optional(column('When it was last seen.')),
    expiresAt: Type.Optional(column('When it expires.')),
    confidence: Type.Optional(column('0 to 100.')),
    severity: Type.Optional(column('A word: info, low, medium, high, critical.')),
    tlp: Type.Optional(column('The TLP; an unknown word counts as RED.')),
    forDetection: Type.Optional(column('Whether it is for detection: true, yes, 1, false, no or 0.')),
    tags: Type.Optional(
      Type.Array(column('A column of tags, divided by commas or semicolons.'), { maxItems: 32 }),
    ),
  },
  { ...CLOSED, description: 'Where the values and their fields stand in a CSV file.' },
);
export type CsvMap = Static<typeof CsvMap>;

const FIELD = 'Dotted names from the record, `$` for the record itself, `$key` for its name in an object.';

/** The place of the records in a JSON file, and the meaning of their members. */
export const JsonMap = Type.Object(
  {
    records: Type.Optional(
      path(
        'Dotted names from the root to the list, or object, of records; `$` is the root. Left out: the root.',
      ),
    ),
    ndjson: Type.Optional(Type.Boolean({ default: false, description: 'Each line is a record (NDJSON).' })),
    values: Type.Array(
      Type.Object(
        {
          path: path(`The observable; a list gives one each. ${FIELD}`),
          type: Type.Optional(
            mappedType('What it holds; when left out, typePath or the value itself says it.'),
          ),
          typePath: Type.Optional(
            path('The type, in a word such as `domain`; in a list, that of the same element.'),
          ),
        },
        CLOSED,
      ),
      { minItems: 1, maxItems: 32, description: 'Each gives an indicator a record, where there is a value.' },
    ),
    firstSeen: Type.Optional(
      path('When it was first seen: ISO 8601, or seconds or milliseconds since 1970.'),
    ),
    lastSeen: Type.Optional(path('When it was last seen, likewise.')),
    expiresAt: Type.Optional(path('When it expires, likewise.')),
    confidence: Type.Optional(path('0 to 100.')),
    severity: Type.Optional(path('A word: info, low, medium, high, critical.')),
    tlp: Type.Optional(path('The TLP; an unknown word counts as RED.')),
    forDetection: Type.Optional(
      path('Whether it is for detection: a boolean, or true, yes, 1, false, no or 0.'),
    ),
    tags: Type.Optional(
      Type.Array(path('A tag, a list of tags, or tags divided by commas.'), { maxItems: 32 }),
    ),
  },
  { ...CLOSED, description: 'Where the values and their fields stand in a JSON file.' },
);
export type JsonMap = Static<typeof JsonMap>;

/** How the lines of a list are read. */
export const TextOptions = Type.Object(
  {
    type: Type.Optional(
      mappedType(
        'What every line holds. Left out: each line is told by its form, which names, paths and user agents have none of.',
      ),
    ),
  },
  { ...CLOSED, description: 'How the lines of a plain list are read.' },
);
export type TextOptions = Static<typeof TextOptions>;
