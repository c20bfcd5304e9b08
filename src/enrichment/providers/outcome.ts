import type { OutboundAnswer } from '../../outbound/outbound.ts';
import { type Assessment, failed, type QueryableProvider, UNEXPECTED } from './provider.ts';
import { readAnswer, redact } from './read-response.ts';

/** The provider answered as documented, even if only that it does not know the value. */
export interface Answered {
  kind: 'answered';
  /** The JSON of the response. */
  raw: unknown;
  assessment: Assessment;
  fetchedAt: Date;
}

/** There is no usable response. That says nothing about the indicator: it is never "clean". */
export interface Failed {
  kind: 'failed';
  /** A fixed text, or the provider's own (truncated, without control characters). Never holds the key. */
  error: string;
  /**
   * null without an HTTP response; else `{status}`, with `body` if that was JSON. Never the bare response, so
   * that no mapper that reads it again finds a judgement in it.
   */
  raw: { status: number; body?: unknown } | null;
  /** UNKNOWN, without a score, with this error and a short lifetime. */
  assessment: Assessment;
  fetchedAt: Date;
}

export function failure(reason: string, raw: Failed['raw'], fetchedAt: Date): Failed {
  const assessment = failed(reason);
  return { kind: 'failed', error: assessment.error, raw, assessment, fetchedAt };
}

/**
 * Assesses a response. 2xx is expected, and 404, which some providers send for values that they do not know;
 * both must have the documented form.
 */
export function outcomeOf(
  provider: QueryableProvider,
  { status, body }: OutboundAnswer,
  key: string,
  fetchedAt: Date,
): Answered | Failed {
  const read = readAnswer(body, key);
  const expected = (status >= 200 && status < 300) || status === 404;
  if ('error' in read) return failure(expected ? read.error : `HTTP ${status}`, { status }, fetchedAt);
  const assessment = provider.assess(read.json);
  if (expected && assessment.error === null) {
    return { kind: 'answered', raw: read.json, assessment, fetchedAt };
  }
  return failure(wordsFor(status, assessment.error, key), { status, body: read.json }, fetchedAt);
}

/**
 * Returns the provider's own message where it has one, else the status, where that says more than the
 * response.
 */
function wordsFor(status: number, error: string | null, key: string): string {
  const isGeneric = error === null || error === UNEXPECTED;
  if (isGeneric && (status < 200 || status > 299)) return `HTTP ${status}`;
  return redact(error ?? UNEXPECTED, key);
}
