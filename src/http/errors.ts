/**
 * The status and the default message of each error code. Codes are stable; messages are for people and reveal no
 * internals.
 */
const CATALOGUE = {
  invalid_parameter: [400, 'A query parameter is not valid.'],
  bad_request: [400, 'The request could not be understood.'],
  missing_api_key: [401, 'An API key is required: send it as "Authorization: Bearer <API_KEY>".'],
  invalid_api_key: [401, 'The API key is not valid.'],
  insufficient_scope: [403, 'The API key lacks the scope that this request needs.'],
  network_not_allowed: [403, 'The API key may not be used from this address.'],
  invalid_metrics_token: [
    401,
    'Metrics need the token that METRICS_TOKEN sets: send it as "Authorization: Bearer <METRICS_TOKEN>".',
  ],
  not_signed_in: [401, 'Sign in first.'],
  invalid_credentials: [401, 'The e-mail address or the password is wrong.'],
  insufficient_role: [403, 'Your role does not allow this.'],
  password_change_required: [403, 'Change your password first: somebody else has set it.'],
  cross_origin: [403, 'Changes are made from the application alone.'],
  not_found: [404, 'There is nothing here.'],
  method_not_allowed: [405, 'This method is not allowed here.'],
  not_acceptable: [406, 'The answer cannot be given in a media type that the Accept header allows.'],
  request_timeout: [408, 'The request did not come in time.'],
  conflict: [409, 'This cannot be done as things are.'],
  content_too_large: [413, 'The file is too large.'],
  uri_too_long: [414, 'The address of the request is too long.'],
  range_not_satisfiable: [416, 'The range lies behind the end.'],
  rate_limit_exceeded: [429, 'Too many requests.'],
  headers_too_large: [431, 'The headers of the request are too large.'],
  internal_error: [500, 'Something went wrong on our side.'],
  service_unavailable: [503, 'The service cannot answer at the moment. Try again shortly.'],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorCode = keyof typeof CATALOGUE;

export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string = CATALOGUE[code][1], headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.statusCode = CATALOGUE[code][0];
    this.headers = headers;
  }

  get body(): { error: string; code: ErrorCode } {
    return { error: this.message, code: this.code };
  }
}
