import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { ApiError } from './errors.ts';

/** Checks a JSON body; the first thing that is wrong is named. */
export function bodyValidator(schema: TSchema) {
  return (body: unknown): { value: unknown } | { error: ApiError } => {
    // An operation that needs nothing may be sent nothing.
    const value = body ?? {};
    if (holdsNul(value))
      return { error: new ApiError('invalid_parameter', 'The body must not hold NUL characters.') };
    if (Value.Check(schema, value)) return { value };
    const [first] = Value.Errors(schema, value);
    const path = first?.instancePath.slice(1).replaceAll('/', '.');
    return {
      error: new ApiError('invalid_parameter', `${path || 'The body'}: ${first?.message ?? 'not valid'}.`),
    };
  };
}

/** Text in PostgreSQL has none. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((pair) => pair.some(holdsNul));
}
