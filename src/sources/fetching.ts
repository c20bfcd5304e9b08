import type { Outbound } from '../outbound/outbound.ts';
import type { FetchState, StoredSource } from './source-settings.ts';

/** The input of a fetcher. */
export interface FetchContext {
  source: Pick<StoredSource, 'name' | 'address' | 'options'>;
  memory: FetchState;
  /** Headers that are sent only to the origin of a request's URL. */
  credentials: Record<string, string>;
  outbound: Outbound;
  /** The directory for fetched files, which is deleted after the run. */
  directory: string;
  /** The maximum size of all responses of the run together, decoded, in bytes. */
  maxBytes: number;
  /** The size of the responses so far. */
  fetched: { bytes: number };
  now: Date;
  signal: AbortSignal;
}

export interface FetchedFile {
  /** A name for people, such as `page 3`. */
  label: string;
  path: string;
}

export interface Fetched {
  /** Empty: nothing has changed at the source. */
  files: FetchedFile[];
  /** The memory for the next run, which is stored once the files are imported. */
  memory: FetchState;
  /** Whether the files are the complete current content of the source, not only its changes. */
  whole: boolean;
  /** The parts that were not fetched this time, and the reason. */
  skipped?: { where: string; reason: string }[];
}

export type Fetcher = (context: FetchContext) => Promise<Fetched>;

/** Thrown when a run cannot continue. The message is for the operator, and contains nothing of a response body. */
export class FeedRunError extends Error {
  override name = 'FeedRunError';
  /** The HTTP status that caused the error, if one did. */
  readonly status: number | null;
  /** When the source accepts requests again, if it states that. */
  readonly retryAt: Date | null;
  constructor(message: string, status: number | null = null, retryAt: Date | null = null) {
    super(message);
    this.status = status;
    this.retryAt = retryAt;
  }
}
