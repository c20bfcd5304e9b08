import { type Static, type TSchema, Type } from 'typebox';

/** A string of a closed vocabulary. */
export function stringEnum<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

/** `T | null` written as a type array, which the serializer takes without trying alternatives. */
export function nullable<T extends TSchema>(schema: T) {
  const { type, ...rest } = schema as T & { type: string };
  return Type.Unsafe<Static<T> | null>({ ...rest, type: [type, 'null'] });
}

/** Null, or a string of a closed vocabulary. */
export function nullableEnum<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number] | null>({ type: ['string', 'null'], enum: [...values, null], ...options });
}

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
  { $id: 'Error', description: 'Every error has this body.' },
);

/** A page of a list. */
export function listOf<T extends TSchema>(item: T, id: string) {
  return Type.Object(
    {
      data: Type.Array(ref(item)),
      page: Type.Integer({ minimum: 1, description: 'The page returned.' }),
      pageSize: Type.Integer({ minimum: 1, description: 'The page size used.' }),
      total: Type.Integer({ minimum: 0, description: 'How many items match, on all pages together.' }),
    },
    { $id: id },
  );
}

export function oneOf<T extends TSchema>(item: T, id: string) {
  return Type.Object({ data: ref(item) }, { $id: id });
}

/** Pages are bounded so that the offset stays an exact number. */
const MAX_PAGE = 10 ** 12;

export function pageParameters(defaultSize: number, maxSize: number) {
  return {
    page: Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page number.' }),
    pageSize: Type.Integer({
      minimum: 1,
      maximum: maxSize,
      default: defaultSize,
      description: 'Items on a page.',
    }),
  };
}

/** The page of an export. No defaults: an export is cut into pages only where the request asks for one. */
export function optionalPageParameters(maxSize: number) {
  return {
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
    pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSize })),
  };
}
