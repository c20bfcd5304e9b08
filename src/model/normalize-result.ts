import type { IndicatorType } from './vocabulary.ts';

export interface NormalizedIndicator {
  /** Usually the requested type; IPV4 if an IPv6 address turns out to be IPv4-mapped. */
  type: IndicatorType;
  /** The display form: normalized, with letter case kept where it is significant. */
  value: string;
  /** The form that identifies it and that `q` matches. */
  normalized: string;
}

/** The indicator, or why the value is not of its type: short and stable, without the value. */
export type NormalizeResult = NormalizedIndicator | { rejected: string };
