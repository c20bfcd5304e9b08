import type { RE2JS } from 're2js';
import type { IndicatorType } from '../../model/vocabulary.ts';
import type { Reach } from './name-entry.ts';
import type { Network } from './network.ts';

/** What an entry says, in the form in which it is compared. */
export type Rule =
  /** The whole normalized value of that type. */
  | { by: 'value'; type: IndicatorType; value: string }
  /** The host of a domain, a URL or an e-mail address. */
  | { by: 'name'; name: string; reach: Reach }
  /** An address, or one that is the host of a URL. */
  | { by: 'network'; network: Network }
  /** A part, in lower case, of the host (of a value without one: of the value) or of the whole value in lower case. */
  | { by: 'part'; part: string; of: 'host' | 'value' }
  /** The whole value. */
  | { by: 'expression'; expression: RE2JS };

export type Rules = readonly Rule[] | { rejected: string };
