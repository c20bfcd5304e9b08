import type { Tlp } from '../model/vocabulary.ts';

/** As TLP 2.0 (FIRST) writes it: `AMBER+STRICT`. */
export function tlpName(tlp: Tlp): string {
  return tlp.replace('_', '+');
}
