import type { OutboundAnswer } from '../../outbound/outbound.ts';
import { type AskableProvider, type Assessment, failed, UNEXPECTED } from './provider.ts';
import { readAnswer, strikeOut } from './read-response.ts';

/** The provider answered as documented, if only that it does not know the value. */
export interface Learnt {
  kind: 'answered';
  /** The answer's JSON. */
  raw: unknown;
  assessment: Assessment;
  fetchedAt: Date;
}

/** There is no usable answer. That says nothing about the indicator: it is never "clean". */
export interface Failed {
  kind: 'failed';
  /** In fixed words, or the provider's own (cut, without control characters). Never holds the key. */
  error: string;
  /**
   * null without an HTTP answer; else `{status}`, with `body` when that was JSON. Never the bare answer, so that no
   * mapper that reads it again finds a judgement in it.
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

/** Judges what came back: 2xx, and 404, by which some say that they do not know the value; by their documented form. */
export function outcomeOf(
  provider: AskableProvider,
  { status, body }: OutboundAnswer,
  key: string,
  fetchedAt: Date,
): Learnt | Failed {
  const read = readAnswer(body, key);
  const expected = (status >= 200 && status < 300) || status === 404;
  if ('error' in read) return failure(expected ? read.error : `HTTP ${status}`, { status }, fetchedAt);
  const assessment = provider.assess(read.json);
  if (expected && assessment.error === null) {
    return { kind: 'answered', raw: read.json, assessment, fetchedAt };
  }
  return failure(wordsFor(status, assessment.error, key), { status, body: read.json }, fetchedAt);
}

/** The provider's own words where it has some, else the status, where that says more than the answer. */
function wordsFor(status: number, error: string | null, key: string): string {
  const isGeneric = error === null || error === UNEXPECTED;
  if (isGeneric && (status < 200 || status > 299)) return `HTTP ${status}`;
  return strikeOut(error ?? UNEXPECTED, key);
}
