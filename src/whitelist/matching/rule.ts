import type { RE2JS } from 're2js';
import type { IndicatorType } from '../../model/vocabulary.ts';
import type { Reach } from './names.ts';
import type { Network } from './network.ts';

/** A list entry in the form in which it is matched. */
export type Rule =
  /** Equals the whole normalized value of that type. */
  | { by: 'value'; type: IndicatorType; value: string }
  /** Matches the host of a domain, a URL or an e-mail address. */
  | { by: 'name'; name: string; reach: Reach }
  /** Contains an address, or the address that is the host of a URL. */
  | { by: 'network'; network: Network }
  /**
   * A lower-case substring of the host (of the value if it has no host), or of the whole value in lower case.
   */
  | { by: 'part'; part: string; of: 'host' | 'value' }
  /** Tested against the whole value. */
  | { by: 'expression'; expression: RE2JS };

export type Rules = readonly Rule[] | { rejected: string };

/** How the entries of a list match: the `type` of a MISP warninglist. */
export const LIST_KINDS = ['string', 'substring', 'hostname', 'cidr', 'regex'] as const;
export type ListKind = (typeof LIST_KINDS)[number];
