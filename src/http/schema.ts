import { type Static, type TSchema, Type } from 'typebox';

/** A string of a closed vocabulary. */
export function stringEnum<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

/**
 * A closed vocabulary with a name. As a field or parameter it is written out, which validator and serializer take as it is;
 * the OpenAPI description holds it once, as the component of its name (`title`).
 * @returns the field or parameter, with `schema`, which the service must know to describe it
 */
export function namedEnum<const T extends readonly string[]>(name: string, values: T, description: string) {
  return Object.assign((options: object = {}) => stringEnum(values, { title: name, ...options }), {
    schema: stringEnum(values, { $id: name, description }),
  });
}

/** `T | null` written as a type array, which the serializer takes without trying alternatives. */
export function nullable<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { type: string; enum?: unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    type: [type, 'null'],
    ...(values && { enum: [...values, null] }),
  });
}

/** Null, or a string of a closed vocabulary. */
export const nullableEnum = <const T extends readonly string[]>(values: T) => nullable(stringEnum(values));

/** An object with any names. */
export function mapOf<T extends TSchema>(value: T) {
  return Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value });
}

/** A reference to a named schema, typed. */
export function ref<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T>>({ $ref: `${(schema as { $id?: string }).$id}#` });
}

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

/** A page of a list. */
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

/** Pages are bounded so that the offset stays an exact number. */
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

/** The page of an export. No defaults: an export is cut into pages only where the request asks for one. */
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
