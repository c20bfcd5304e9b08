import type { Answer, Given, Key } from './operations.ts';

/** What the server says is wrong. */
export class CallError extends Error {
  override name = 'CallError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** @throws {CallError} what the server says, or that it cannot be reached (status 0) */
export async function call<K extends Key>(
  key: K,
  given: Given<K> = {},
  signal?: AbortSignal,
): Promise<Answer<K>> {
  const [method = 'GET'] = key.split(' ');
  await given.file
    ?.slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw new CallError(
        0,
        'file_changed',
        'The file was changed or moved since it was chosen. Choose it again.',
      );
    });
  const body = given.file ?? (method === 'GET' ? undefined : JSON.stringify(given.body ?? {}));
  const type = given.file ? 'application/octet-stream' : 'application/json';
  const init = {
    method,
    signal: signal ?? null,
    ...(body !== undefined && { body, headers: { 'content-type': type } }),
  };
  const response = await fetch(addressOf(key, given), init).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new CallError(0, 'unreachable', 'The server cannot be reached. Is it running?');
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer as Answer<K>;
  const { code = 'unknown', error = `The server answered with ${response.status}.` } = answer ?? {};
  throw new CallError(response.status, code, error);
}

/** Where an operation is, with its parameters and query in place. */
export function addressOf<K extends Key>(
  key: K,
  { params, query }: Pick<Given<K>, 'params' | 'query'>,
): string {
  const [, path = ''] = key.split(' ');
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent((params as Record<string, string> | undefined)?.[name] ?? ''),
  );
  const search = searchOf(query ?? {});
  return search ? `${filled}?${search}` : filled;
}

export function searchOf(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
