import { hkdfSync } from 'node:crypto';
import type { SequenceState, TableColumns } from './backup.queries.ts';

/**
 * A backup is a tar archive, compressed by gzip and, if a passphrase is given, encrypted in the age format. Its entries, in this order:
 * `backup.json` (the manifest), `secret` (only if it is encrypted), `rows/TABLE/NUMBER` (rows in COPY's text format, whole lines, the tables
 * in the order of the manifest), `end.json` (counts and digests).
 */
export const MANIFEST_ENTRY = 'backup.json';
export const SECRET_ENTRY = 'secret';
export const END_ENTRY = 'end.json';
export const rowsEntry = (table: string, number: number) =>
  `rows/${table}/${String(number).padStart(6, '0')}`;

/** The version of the layout above; a reader rejects others. */
export const FORMAT = 1;

export interface Manifest {
  format: typeof FORMAT;
  /** The version of Tipline that made the backup. */
  product: string;
  /** The last migration of the store. */
  schema: string;
  /** The time of the snapshot, ISO 8601. */
  takenAt: string;
  revision: number;
  indicators: number;
  /** See `fingerprintOf`; null: the secret was not known. */
  secretFingerprint: string | null;
  tables: TableColumns[];
  sequences: SequenceState[];
}

export interface TableEnd {
  rows: number;
  bytes: number;
  /** Of all rows, in hex. */
  sha256: string;
}

export interface End {
  /** The SHA-256 of the manifest's entry, in hex. */
  manifest: string;
  tables: Record<string, TableEnd>;
}

/** Returns a text that differs between secrets and does not reveal them. */
export function fingerprintOf(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, 'tipline', 'fingerprint in backups', 16)).toString('hex');
}

/** Tables that the worker fills again: counts of the list, and what they need to be corrected. */
export const DERIVED_TABLES = [
  'list_segment_state',
  'list_segment',
  'list_gram',
  'list_tag',
  'list_segment_tag',
  'first_seen_segment',
  'first_seen_segment_tag',
  'first_seen_segment_week',
  'first_seen_change',
  'list_source',
  'list_segment_source',
  'first_seen_segment_source',
  'statement_change',
];
