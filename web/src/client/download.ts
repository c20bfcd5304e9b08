import { ApiError, apiUrl } from './api.ts';
import type { ApiBody } from './operations.ts';

/**
 * Downloads an export of selected indicators. A link cannot: it has no body, and a URL has no room for thousands of ids.
 * @throws {ApiError} when the server responds with an error or cannot be reached
 */
export async function downloadSelected(body: ApiBody<'POST /app/indicators/export'>): Promise<void> {
  const key = 'POST /app/indicators/export';
  const response = await fetch(apiUrl(key, {}), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new ApiError(0, 'unreachable', 'The server cannot be reached. Is it running?');
  });
  if (!response.ok) {
    const { code = 'unknown', error = `The server answered with ${response.status}.` } = await response
      .json()
      .catch(() => ({}));
    throw new ApiError(response.status, code, error);
  }
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name ?? 'tipline-indicators';
  link.click();
  URL.revokeObjectURL(url);
}
