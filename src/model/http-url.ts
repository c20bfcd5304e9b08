/**
 * Returns the URL if it begins with http:// or https://, else null. `URL.canParse` is wrong at times in Node
 * 20.
 */
export function httpUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
  } catch {
    return null;
  }
}
