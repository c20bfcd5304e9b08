/** Thrown when a request gets no usable response. Requests that the caller aborts are rejected with the reason of the signal instead. */
export class TiplineError extends Error {
  override name = 'TiplineError';
  /** The status of the response; 0: there was none. */
  readonly status: number;
  /**
   * The `code` of the response, such as `rate_limit_exceeded`; stable. Without one: `network_error`, `timeout`, `redirect`,
   * `not_modified` or `unexpected_response`.
   */
  readonly code: string;
  /** Seconds after which the server accepts the request again; null: not stated. */
  readonly retryAfter: number | null;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { retryAfter?: number | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.status = status;
    this.code = code;
    this.retryAfter = options.retryAfter ?? null;
  }
}

/** Returns the error that a response of another status than expected stands for. */
export async function errorOf(response: Response): Promise<TiplineError> {
  const { status, headers } = response;
  const text = await response.text();
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const target = headers.get('location') ?? 'another address';
    return new TiplineError(
      status,
      'redirect',
      `The server redirects to ${target}. Redirects are not followed.`,
    );
  }
  const retryAfter = secondsOf(headers.get('retry-after'));
  const body = parsed(text);
  if (typeof body?.error === 'string' && typeof body.code === 'string')
    return new TiplineError(status, body.code, body.error, { retryAfter });
  return new TiplineError(status, 'unexpected_response', `The server answered ${status}.`, { retryAfter });
}

/** Returns what a call is rejected with after an error of `fetch` or of the stream of a body. */
export function failureOf(
  error: unknown,
  signal: AbortSignal | undefined,
  controller: AbortController,
): unknown {
  if (error instanceof TiplineError) return error;
  if (signal?.aborted) return signal.reason;
  if (controller.signal.aborted) return controller.signal.reason;
  const { message, cause } = error as Error;
  const reason = (cause as Error | undefined)?.message ?? message;
  return new TiplineError(0, 'network_error', `The server does not answer: ${reason}.`, { cause: error });
}

export const timedOut = (seconds: number) =>
  new TiplineError(0, 'timeout', `The server did not answer within ${seconds} seconds.`);

function parsed(text: string): { error?: unknown; code?: unknown } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Reads Retry-After: seconds or a date (RFC 9110, section 10.2.3). */
function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}
