import type { Tlp } from '../model/vocabulary.ts';

/** Returns the TLP as TLP 2.0 (FIRST) writes it: `AMBER+STRICT`. */
export function tlpName(tlp: Tlp): string {
  return tlp.replace('_', '+');
}
