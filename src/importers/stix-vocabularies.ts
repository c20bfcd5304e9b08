import type { Motivation, Sophistication } from '../model/vocabulary.ts';
import { textOf } from './record-fields.ts';

/** attack-motivation-ov (STIX 2.1 part 10.3). Words that imply no aim are UNKNOWN. */
const MOTIVATION_BY_WORD = new Map<string, Motivation>([
  ['accidental', 'UNKNOWN'],
  ['coercion', 'UNKNOWN'],
  ['dominance', 'ESPIONAGE'],
  ['ideology', 'HACKTIVISM'],
  ['notoriety', 'HACKTIVISM'],
  ['organizational-gain', 'FINANCIAL'],
  ['personal-gain', 'FINANCIAL'],
  ['personal-satisfaction', 'UNKNOWN'],
  ['revenge', 'DESTRUCTION'],
  ['unpredictable', 'UNKNOWN'],
]);

/** threat-actor-sophistication-ov (STIX 2.1 part 10.25). */
const SOPHISTICATION_BY_WORD = new Map<string, Sophistication>([
  ['none', 'MINIMAL'],
  ['minimal', 'MINIMAL'],
  ['intermediate', 'INTERMEDIATE'],
  ['advanced', 'ADVANCED'],
  ['expert', 'EXPERT'],
  ['innovator', 'EXPERT'],
  ['strategic', 'STRATEGIC'],
]);

/**
 * Returns the first motivation other than UNKNOWN, in the order given (primary before secondary); null: none
 * is stated.
 */
export function motivationOf(words: unknown[]): Motivation | null {
  const stated = words.map(textOf).filter((word) => word !== null);
  const meanings = stated.map((word) => MOTIVATION_BY_WORD.get(word.toLowerCase()) ?? 'UNKNOWN');
  return meanings.find((meaning) => meaning !== 'UNKNOWN') ?? meanings[0] ?? null;
}

export function sophisticationOf(word: unknown): Sophistication | null {
  return SOPHISTICATION_BY_WORD.get(textOf(word)?.toLowerCase() ?? '') ?? null;
}
