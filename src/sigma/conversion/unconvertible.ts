/**
 * Why a rule is left out of queries in a language:
 * - `logsource`: the language's product has no table for the log source of the rule
 * - `field`: a field of the rule has no counterpart there
 * - `keywords`: the rule searches whole events for words
 * - `value`: a value that the language cannot compare with this field
 * - `regex`: a regular expression that the language's engine does not evaluate in the same way
 * - `modifier`: a modifier that is not in the Sigma specification, or that does not apply to its value
 * - `condition`: a condition that names missing selections, or counts events
 * - `detection`: a detection that does not conform to the Sigma specification
 * - `never`: events of the log source there never match
 * - `size`: more comparisons than a query may have
 * - `correlation`: a correlation of rules, or a rule that only a correlation uses
 * - `placeholder`: a placeholder (`|expand`), whose values each site defines
 */
export const UNCONVERTED_REASONS = [
  'logsource',
  'field',
  'keywords',
  'value',
  'regex',
  'modifier',
  'condition',
  'detection',
  'never',
  'size',
  'correlation',
  'placeholder',
] as const;
export type UnconvertedReason = (typeof UNCONVERTED_REASONS)[number];

/** Thrown when a rule cannot be converted to a query that finds the same events. */
export class Unconvertible extends Error {
  readonly reason: UnconvertedReason;

  /** @param message names the field, modifier or value, for a person */
  constructor(reason: UnconvertedReason, message: string) {
    super(message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}...` : message);
    this.reason = reason;
  }
}

const MAX_MESSAGE = 200;
