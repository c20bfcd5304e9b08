import type { Lifetimes, SourceDefaults } from '../model/statement.ts';

/** What a source can be fetched as. */
export const FEED_KINDS = [
  'urlhaus',
  'threatfox',
  'malwarebazaar',
  'feodo',
  'kev',
  'otx',
  'taxii',
  'misp',
  'stix',
  'csv',
  'json',
  'text',
] as const;
export type FeedKind = (typeof FEED_KINDS)[number];

/** What an operator sets. */
export interface SourceSettings {
  name: string;
  kind: FeedKind;
  address: string;
  /** What its kind needs beyond that: a column map, how many days, … */
  options: Record<string, unknown>;
  /** null: only when asked. */
  everySeconds: number | null;
  enabled: boolean;
  defaults: SourceDefaults;
  lifetimes: Lifetimes;
  membership: boolean;
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

export interface StoredSource extends Omit<SourceSettings, 'kind'> {
  id: string;
  /** A feed kind, or `import`, `sample`: those are not fetched. */
  kind: string;
  hasCredentials: boolean;
  health: SourceHealth;
}

/** What the next run needs of the last one. */
export type Memory = Record<string, unknown>;
