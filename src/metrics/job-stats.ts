/** The counts of the worker of this process, since the start. */
export interface JobStats {
  /** Jobs that have ended, by queue. */
  jobs: Map<string, { done: number; failed: number; seconds: number }>;
  /** The number of look-ups, by provider and outcome. */
  lookups: Map<string, Map<string, number>>;
}

export const createJobStats = (): JobStats => ({ jobs: new Map(), lookups: new Map() });

export function countJob({ jobs }: JobStats, queue: string, hasFailed: boolean, seconds: number): void {
  const counts = jobs.get(queue) ?? { done: 0, failed: 0, seconds: 0 };
  jobs.set(queue, counts);
  counts[hasFailed ? 'failed' : 'done']++;
  counts.seconds += seconds;
}

export function countLookup({ lookups }: JobStats, provider: string, outcome: string): void {
  const outcomes = lookups.get(provider) ?? new Map<string, number>();
  lookups.set(provider, outcomes);
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}
