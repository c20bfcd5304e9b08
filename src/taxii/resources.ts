import type { ApiError } from '../http/errors.ts';

/** The path of the discovery (TAXII 2.1 §4.1). */
export const TAXII = '/taxii2';
/** The path of the only API root (§4.2). */
export const ROOT = `${TAXII}/root`;

export const TAXII_TYPE = 'application/taxii+json;version=2.1';
/** The media type of the objects. */
export const STIX_TYPE = 'application/stix+json;version=2.1';

/** Returns an error message (§3.6.1). @param id of the request, by which the log has it */
export function errorMessage({ body, statusCode }: ApiError, id: string) {
  return {
    title: body.error,
    error_id: id,
    error_code: body.code,
    http_status: String(statusCode),
  };
}
