/**
 * The status and the default message of each error code. Codes are stable; messages are for people and reveal no
 * internals.
 */
export const ERRORS = {
  invalid_parameter: [400, 'A query parameter is not valid.'],
  bad_request: [400, 'The request could not be understood.'],
  missing_api_key: [401, 'An API key is required: send it as "Authorization: Bearer <API_KEY>".'],
  invalid_api_key: [401, 'The API key is not valid.'],
  insufficient_scope: [403, 'The API key lacks the required scope.'],
  network_not_allowed: [403, 'The API key may not be used from this address.'],
  invalid_metrics_token: [
    401,
    'Metrics need the token that METRICS_TOKEN sets: send it as "Authorization: Bearer <METRICS_TOKEN>".',
  ],
  not_signed_in: [401, 'Sign in first.'],
  invalid_credentials: [401, 'The e-mail address or the password is wrong.'],
  insufficient_role: [403, 'Your role does not allow this.'],
  password_change_required: [403, 'Change your password first: an administrator has set it.'],
  read_only: [403, 'Nothing can be added, changed or deleted here.'],
  cross_origin: [403, 'Changes are accepted from the application’s own pages only.'],
  not_found: [404, 'Not found.'],
  method_not_allowed: [405, 'This method is not allowed here.'],
  not_acceptable: [406, 'No available media type matches the Accept header.'],
  request_timeout: [408, 'The request timed out.'],
  conflict: [409, 'Conflicts with the current state.'],
  gone: [410, 'No longer available.'],
  content_too_large: [413, 'The body of the request is too large.'],
  uri_too_long: [414, 'The URL of the request is too long.'],
  unsupported_media_type: [415, 'The media type of the body is not supported here.'],
  range_not_satisfiable: [416, 'The range starts beyond the end of the content.'],
  rate_limit_exceeded: [429, 'Too many requests.'],
  headers_too_large: [431, 'The headers of the request are too large.'],
  internal_error: [500, 'Internal server error.'],
  service_unavailable: [503, 'The service is temporarily unavailable. Try again shortly.'],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorCode = keyof typeof ERRORS;

export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string = ERRORS[code][1], headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.statusCode = ERRORS[code][0];
    this.headers = headers;
  }

  get body(): { error: string; code: ErrorCode } {
    return { error: this.message, code: this.code };
  }
}
