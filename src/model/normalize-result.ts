import type { IndicatorType } from './vocabulary.ts';

export interface NormalizedIndicator {
  /** Usually the type asked for; IPV4 when an IPv6 address turns out to be IPv4-mapped. */
  type: IndicatorType;
  /** What is shown: normalized, its letter case kept where it means something. */
  value: string;
  /** What identifies it and what `q` matches. */
  normalized: string;
}

/** Or why the value is not of its type: short and stable, without the value. */
export type NormalizeResult = NormalizedIndicator | { rejected: string };
