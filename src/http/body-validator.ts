import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { ApiError } from './errors.ts';

/** Returns a validator for a JSON body, which reports the first error. */
export function bodyValidator(schema: TSchema) {
  return (body: unknown): { value: unknown } | { error: ApiError } => {
    // An operation without required fields accepts a request without a body.
    const value = body ?? {};
    if (holdsNul(value))
      return { error: new ApiError('invalid_parameter', 'The body must not contain NUL characters.') };
    if (Value.Check(schema, value)) return { value };
    const [first] = Value.Errors(schema, value);
    const path = first?.instancePath.slice(1).replaceAll('/', '.');
    return {
      error: new ApiError('invalid_parameter', `${path || 'The body'}: ${first?.message ?? 'not valid'}.`),
    };
  };
}

/** Returns whether any string contains NUL, which PostgreSQL text cannot. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((pair) => pair.some(holdsNul));
}
