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
    verdict: verdictOf(confidenceOf(matches)),
    matches,
  };
}

/** Returns the highest confidence of the matches; null: there are none. */
export function confidenceOf(matches: readonly { indicator: { confidence: number } }[]): number | null {
  return matches.reduce<number | null>(
    (most, { indicator }) => Math.max(most ?? 0, indicator.confidence),
    null,
  );
}
