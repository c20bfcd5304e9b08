import type { Outbound } from '../outbound/outbound.ts';
import type { Memory, StoredSource } from './source-settings.ts';

/** What a feed kind needs to fetch. */
export interface FetchContext {
  source: Pick<StoredSource, 'name' | 'address' | 'options'>;
  memory: Memory;
  /** Headers that go to the origin of the address alone. */
  credentials: Record<string, string>;
  outbound: Outbound;
  /** Where files may be put; it is emptied after the run. */
  directory: string;
  /** Of all answers of the run, decoded, in bytes. */
  maxBytes: number;
  /** How much of that is used up. */
  fetched: { bytes: number };
  now: Date;
  signal: AbortSignal;
}

export interface FetchedFile {
  /** For people: what it is, such as `page 3`. */
  label: string;
  path: string;
}

export interface Fetched {
  /** Nothing of them is new when this is empty. */
  files: FetchedFile[];
  /** For the next run, once this one has been imported. */
  memory: Memory;
  /** The files are all that the source holds now, not what has changed. */
  whole: boolean;
  /** What was left out for now, and why. */
  skipped?: { where: string; reason: string }[];
}

export type Fetcher = (context: FetchContext) => Promise<Fetched>;

/** A run that cannot go on, in words for the operator, without anything of the answer's body. */
export class FeedRunError extends Error {
  override name = 'BrokenRun';
  /** The HTTP status that broke it, if one did. */
  readonly status: number | null;
  /** When the source wants to be asked again, if it says so. */
  readonly retryAt: Date | null;
  constructor(message: string, status: number | null = null, retryAt: Date | null = null) {
    super(message);
    this.status = status;
    this.retryAt = retryAt;
  }
}
