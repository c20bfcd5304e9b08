/**
 * The deepest documented response has about ten levels. Much deeper ones would overflow the stack of their
 * readers.
 */
const DEEPEST = 100;

const TOO_DEEP = Symbol('too deep');

/**
 * Parses the JSON of a response and redacts a secret wherever it occurs: providers echo what they were sent.
 * @returns the JSON, or the reason in fixed words when the response is not usable. Never throws.
 */
export function readAnswer(body: Uint8Array, secret: string): { json: unknown } | { error: string } {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return { error: 'the answer is not JSON' };
  }
  const copy = withoutSecret(json, secret, 0);
  return copy === TOO_DEEP ? { error: 'the answer is nested too deeply' } : { json: copy };
}

export function redact(text: string, secret: string): string {
  return text.replaceAll(secret, '[key]').replaceAll(encodeURIComponent(secret), '[key]');
}

function withoutSecret(value: unknown, secret: string, depth: number): unknown {
  if (typeof value === 'string') return redact(value, secret);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) return TOO_DEEP;
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const copy = withoutSecret(member, secret, depth + 1);
    if (copy === TOO_DEEP) return TOO_DEEP;
    entries.push([redact(name, secret), copy]);
  }
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}
