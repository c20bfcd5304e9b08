import type { ApiRequest, ApiResponse, OperationKey } from './operations.ts';

/** An error response of the server, or a request without a response (status 0). */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * Calls an operation of the server and returns its parsed response.
 * @throws {ApiError} when the server responds with an error or cannot be reached
 */
export async function callApi<K extends OperationKey>(
  key: K,
  request: ApiRequest<K> = {},
  signal?: AbortSignal,
): Promise<ApiResponse<K>> {
  const [method = 'GET'] = key.split(' ');
  // fetch reports a file that can no longer be read as a network error.
  await request.file
    ?.slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw new ApiError(
        0,
        'file_changed',
        'The file was changed or moved since it was chosen. Choose it again.',
      );
    });
  const body = request.file ?? (method === 'GET' ? undefined : JSON.stringify(request.body ?? {}));
  const type = request.file ? 'application/octet-stream' : 'application/json';
  const init = {
    method,
    signal: signal ?? null,
    ...(body !== undefined && { body, headers: { 'content-type': type } }),
  };
  const response = await fetch(apiUrl(key, request), init).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'The server cannot be reached. Is it running?');
  });
  const content = await response.json().catch(() => null);
  if (response.ok && content !== null) return content as ApiResponse<K>;
  const { code = 'unknown', error = `The server answered with ${response.status}.` } = content ?? {};
  throw new ApiError(response.status, code, error);
}

/** Returns the URL of an operation with its parameters and query filled in. */
export function apiUrl<K extends OperationKey>(
  key: K,
  { params, query }: Pick<ApiRequest<K>, 'params' | 'query'>,
): string {
  const [, path = ''] = key.split(' ');
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent((params as Record<string, string> | undefined)?.[name] ?? ''),
  );
  const search = toQueryString(query ?? {});
  return search ? `${filled}?${search}` : filled;
}

/** Returns the query string of all values that are neither undefined nor empty. */
export function toQueryString(query: object): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
}
