import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { parseInstant } from '../model/dates.ts';
import { isUuid } from '../model/uuid.ts';
import { ApiError } from './errors.ts';
import { NOT_BLANK } from './schema.ts';

/** The subset of JSON Schema that describes a query parameter. */
interface ParameterSchema {
  type: 'integer' | 'number' | 'boolean' | 'string' | 'array';
  enum?: string[];
  /**
   * The items of a list. Words of an `enum` are separated by commas, given by repeating the parameter, or both; other
   * texts only by repeating it.
   */
  items?: { enum: string[] } | { type: 'string'; minLength?: number; maxLength?: number };
  maxItems?: number;
  format?: 'date-time' | 'uuid';
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: typeof NOT_BLANK;
  default?: unknown;
}

interface QuerySchema {
  properties?: Record<string, ParameterSchema>;
  /** Includes parameters with a default. */
  required?: string[];
}

type Parsed = { value: unknown } | { allowed: string };

/**
 * Returns a strict validator for a query string: a parameter that is unknown, empty, of the wrong type, or repeated
 * without being a list is an error that names the parameter and the allowed values. A mistyped filter must not
 * return everything.
 */
export function queryValidator({ properties = {}, required = [] }: QuerySchema) {
  const known = new Map(Object.entries(properties));
  const names = [...known.keys()].join(', ') || 'none';
  return (raw: Record<string, string | string[]>): { value: unknown } | { error: ApiError } => {
    const value: Record<string, unknown> = {};
    for (const [name, schema] of known) if (schema.default !== undefined) value[name] = schema.default;
    for (const [name, text] of Object.entries(raw)) {
      const schema = known.get(name);
      if (!schema) return invalid(`Unknown query parameter "${printable(name)}". Allowed: ${names}.`);
      if (typeof text !== 'string' && !schema.items) return invalid(`${name} must not be repeated.`);
      const parsed = parse(schema, text);
      if ('allowed' in parsed) return invalid(`${name} must be ${parsed.allowed}.`);
      value[name] = parsed.value;
    }
    const missing = required.find((name) => value[name] === undefined);
    if (missing !== undefined) {
      const { enum: words } = known.get(missing) ?? {};
      return invalid(`${missing} is required${words ? `: one of ${words.join(', ')}` : ''}.`);
    }
    return { value };
  };
}

function invalid(message: string): { error: ApiError } {
  return { error: new ApiError('invalid_parameter', message) };
}

/** Returns the name as short, printable ASCII: names in error messages are untrusted input. */
function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]|["\\]/g, '?').slice(0, 40);
}

function parse(schema: ParameterSchema, given: string | string[]): Parsed {
  if (schema.items && !('enum' in schema.items)) return texts(schema, [given].flat());
  const text = String(given);
  if (schema.type === 'integer') return integer(schema, text);
  if (schema.type === 'number') return decimal(schema, text);
  if (schema.type === 'boolean') {
    return text === 'true' || text === 'false' ? { value: text === 'true' } : { allowed: 'true or false' };
  }
  if (schema.items && 'enum' in schema.items) return list(schema.items.enum, text);
  if (schema.enum) {
    return schema.enum.includes(text) ? { value: text } : { allowed: `one of ${schema.enum.join(', ')}` };
  }
  if (schema.format === 'date-time') return dateTime(text);
  if (schema.format === 'uuid') {
    return isUuid(text) ? { value: text.toLowerCase() } : { allowed: 'an id (a UUID)' };
  }
  return string(schema, text);
}

function texts({ items, maxItems = 1 }: ParameterSchema, given: string[]): Parsed {
  if (given.length > maxItems) return { allowed: `repeated at most ${maxItems} times` };
  const wrong = given
    .map((text) => string(items as ParameterSchema, text))
    .find((parsed) => 'allowed' in parsed);
  return wrong ?? { value: given };
}

function list(allowed: string[], text: string): Parsed {
  const words = text.split(',');
  const fits = words.every((word) => allowed.includes(word)) && new Set(words).size === words.length;
  return fits
    ? { value: words }
    : {
        allowed: `a list of ${allowed.join(', ')}, each once, repeated or with commas and no blanks between`,
      };
}

function integer({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: ParameterSchema, text: string): Parsed {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= minimum && value <= maximum
    ? { value }
    : { allowed: `a whole number from ${minimum} to ${maximum}` };
}

/** A number as programs write it, with an exponent too (RFC 8259 §6). */
const DECIMAL = /^\d{1,15}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i;

function decimal({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: ParameterSchema, text: string): Parsed {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  return value >= minimum && value <= maximum
    ? { value }
    : { allowed: `a number from ${minimum} to ${maximum}, with a point` };
}

function string({ minLength = 1, maxLength = 1024, pattern }: ParameterSchema, text: string): Parsed {
  if (pattern === NOT_BLANK && text.trim() === '') return { allowed: 'a text that is not blank' };
  const fits = text.length >= minLength && text.length <= maxLength && !text.includes('\0');
  return fits ? { value: text } : { allowed: `${minLength} to ${maxLength} characters long, without NUL` };
}

function dateTime(text: string): Parsed {
  const value = parseInstant(text);
  return value === null
    ? {
        allowed:
          'an ISO 8601 date and time with its zone, such as 2026-01-31T12:00:00Z, or a date (a + is written %2B)',
      }
    : { value };
}

/**
 * Parses a query string by the URL standard (application/x-www-form-urlencoded). Parsing never fails: invalid
 * percent-encoding is taken literally. A repeated name becomes a list, which only list parameters accept.
 */
export function parseQuerystring(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const before = query[name];
    if (before === undefined) query[name] = value;
    else if (typeof before === 'string') query[name] = [before, value];
    else before.push(value);
  }
  return query;
}

/** Whether a body may contain NUL characters: PostgreSQL text cannot. */
type Nul = 'reject' | 'allow';

/** Returns what makes the validators of a route. */
export const validatorCompiler =
  (nul: Nul = 'reject') =>
  ({ schema, httpPart }: { schema: unknown; httpPart?: string | undefined }) => {
    if (httpPart === 'querystring') return queryValidator(schema as object);
    return httpPart === 'body' ? bodyValidator(schema as TSchema, nul) : () => true;
  };

/** Returns a validator for a JSON body, which reports the first error. */
export function bodyValidator(schema: TSchema, nul: Nul = 'reject') {
  let compiled: Validator | undefined;
  return (body: unknown): { value: unknown } | { error: ApiError } => {
    // An operation without required fields accepts a request without a body.
    const value = body ?? {};
    if (nul === 'reject' && holdsNul(value))
      return { error: new ApiError('invalid_parameter', 'The body must not contain NUL characters.') };
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return { value };
    const [first] = compiled.Errors(value);
    const path = first?.instancePath.slice(1).replaceAll('/', '.');
    return { error: new ApiError('invalid_parameter', `${path || 'The body'}: ${messageOf(first)}.`) };
  };
}

function messageOf(error: ReturnType<Validator['Errors']>[number] | undefined): string {
  // The schema of fields that an object does not have.
  if (error?.keyword === 'boolean') return 'there is no such field';
  if (error?.keyword === 'pattern' && error.params.pattern === NOT_BLANK) return 'must not be blank';
  return error?.message ?? 'not valid';
}

/** Returns whether any string contains NUL. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) ? value : Object.entries(value).flat()).some(holdsNul);
}
