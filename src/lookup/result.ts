import { verdictOf } from '../model/confidence.ts';
import type { LookupResult } from './lookup.schema.ts';
import type { Question } from './questions.ts';

/** An answer for a value, in the form in which it is sent. */
export interface Answer extends Pick<Question, 'asked'> {
  read: Pick<Extract<Question['read'], { type: unknown }>, 'type' | 'value'> | { unreadable: string };
  matches: LookupResult['matches'];
}

export function toResult({ asked, read, matches }: Answer): LookupResult {
  const isRead = 'type' in read;
  return {
    asked,
    type: isRead ? read.type : null,
    value: isRead ? read.value : null,
    reason: isRead ? null : read.unreadable,
    known: matches.length > 0,
    verdict: verdictOf(confidenceOf(matches.map(({ indicator }) => indicator))),
    matches,
  };
}

/** Returns the highest confidence of the indicators that are for detection; null: there are none. */
export function confidenceOf(
  indicators: readonly { confidence: number; forDetection: boolean }[],
): number | null {
  return indicators.reduce<number | null>(
    (most, { confidence, forDetection }) => (forDetection ? Math.max(most ?? 0, confidence) : most),
    null,
  );
}
