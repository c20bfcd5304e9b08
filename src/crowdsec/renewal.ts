/** Every decision is sent again in each period: those about indicators without an expiry last twice as long. */
const PERIOD_MS = 12 * 3_600_000;
/** The shortest time between two renewals of a client. */
const STEP_MS = 10 * 60_000;

/**
 * The indicators whose decisions are due to be sent again, by their ids. Ids are hashes, so that equal parts of a period have equal
 * parts of all indicators, and a renewal reads a range of the primary key.
 */
export interface DueRenewals {
  /** The first id of the range, in hexadecimal. */
  from: string;
  /** The first id after the range. It wraps around if this is not above `from`; equal: all ids. */
  before: string;
}

/** Returns which decisions a client must be sent again; null: none yet. */
export function dueRenewals(renewedAt: number, now: number): DueRenewals | null {
  if (now - renewedAt < STEP_MS) return null;
  if (isOverdue(renewedAt, now)) return { from: ALL, before: ALL };
  return { from: placeOf(renewedAt), before: placeOf(now) };
}

/** Returns whether all decisions must be sent again. */
export const isOverdue = (renewedAt: number, now: number): boolean => now - renewedAt >= PERIOD_MS;

const ALL = '00000000-0000-0000-0000-000000000000';

/** Returns the id that is at an instant of the period. */
function placeOf(at: number): string {
  const place = Math.floor(((at % PERIOD_MS) / PERIOD_MS) * 2 ** 32);
  return `${place.toString(16).padStart(8, '0')}${ALL.slice(8)}`;
}

/** Returns whether an id is in the range. */
export function isDue({ from, before }: DueRenewals, id: string): boolean {
  if (from < before) return id >= from && id < before;
  return id >= from || id < before;
}
