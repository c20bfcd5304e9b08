import type { Lifetimes, SourceDefaults } from '../model/statement.ts';

/** What an operator sets. */
export interface SourceSettings {
  name: string;
  /** One of `FEED_KINDS`; a stored source may also be `import` or `sample`, which are not fetched. */
  kind: string;
  address: string;
  /** What its kind needs beyond that: a column map, how many days, … */
  options: Record<string, unknown>;
  /** null: only when asked. */
  intervalSeconds: number | null;
  enabled: boolean;
  defaults: SourceDefaults;
  lifetimes: Lifetimes;
  isSnapshotList: boolean;
}

export interface Counts {
  read: number;
  new: number;
  updated: number;
  unchanged: number;
  rejected: number;
}

/** Counts of a run: of indicators, and of the other objects together. */
export interface RunCounts extends Counts {
  /** Of the new and updated: hidden by the whitelist. */
  hidden: number;
  /** Members that the list holds no longer. */
  left: number;
  others: Counts;
  /** Why indicators and others were rejected. */
  reasons: Record<string, number>;
}

/** How it goes; never with anything of an answer's body. */
interface SourceHealth {
  lastRunAt: Date | null;
  lastSuccessAt: Date | null;
  lastError: string | null;
  errorsInARow: number;
  nextRunAt: Date | null;
  lastCounts: RunCounts | null;
}

export interface StoredSource extends SourceSettings {
  id: string;
  hasCredentials: boolean;
  health: SourceHealth;
}

/** What the next run needs of the last one. */
export type Memory = Record<string, unknown>;
