import type { Lifetimes, SourceDefaults } from '../model/statement.ts';

/** The settings of a source, which an operator makes. */
export interface SourceSettings {
  name: string;
  /** One of `FEED_KINDS`; a stored source may also be `import` or `sample`, which are not fetched. */
  kind: string;
  address: string;
  /** Further settings of its kind: a column map, a number of days, … */
  options: Record<string, unknown>;
  /** null: the source is fetched only on request. */
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

export interface DelistingCounts {
  /** Indicators that were delisted. */
  left: number;
  /** Missing members that were not delisted: saved feeds would have fallen under their bounds. */
  heldBack: number;
  /** The slugs of these feeds. */
  heldBackFeeds: readonly string[];
  /** The slugs of feeds whose bounds could not be evaluated, because they cannot be read. */
  unguardedFeeds: readonly string[];
}

/** Counts of a run: those of indicators, and those of all other objects together. */
export interface RunCounts extends Counts, DelistingCounts {
  /** New and updated indicators that the whitelist hides. */
  hidden: number;
  others: Counts;
  /** The number of rejected records of all kinds by reason. */
  reasons: Record<string, number>;
}

/** The outcomes of runs; they contain nothing of a response body. */
interface SourceHealth {
  lastRunAt: Date | null;
  lastSuccessAt: Date | null;
  lastError: string | null;
  errorsInARow: number;
  nextRunAt: Date | null;
  /** Those of an earlier version have no counts of what was held back. */
  lastCounts: (Omit<RunCounts, keyof DelistingCounts> & { left: number } & Partial<DelistingCounts>) | null;
}

export interface StoredSource extends SourceSettings {
  id: string;
  hasCredentials: boolean;
  health: SourceHealth;
}

/** Data of the last run for the next one. */
export type FetchState = Record<string, unknown>;
