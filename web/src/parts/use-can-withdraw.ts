import { useAccount, useHasRole } from '../client/queries.ts';

/** Returns whether the account may undo imports and remove sources: these may contain data of every TLP. */
export function useCanWithdraw(): boolean {
  const { tlpCeiling } = useAccount();
  return useHasRole('administrator') && tlpCeiling === 'RED';
}
