import { TLPS, type Tlp } from '../../../src/model/vocabulary.ts';
import { useAccount } from '../client/queries.ts';

/**
 * Returns the TLP levels up to the ceiling of the account, and the one to choose first.
 * @param preferred is chosen unless it is above the ceiling; then the ceiling is
 */
export function useAllowedTlps(preferred: Tlp): { tlps: readonly Tlp[]; initial: Tlp } {
  const { tlpCeiling } = useAccount();
  const tlps = TLPS.slice(0, TLPS.indexOf(tlpCeiling) + 1);
  return { tlps, initial: tlps.includes(preferred) ? preferred : tlpCeiling };
}
