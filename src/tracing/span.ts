import type { Attributes } from '@opentelemetry/api';

export interface NewSpan {
  name: string;
  /** `server`: a request to this process; `client`: a request of this process to another; default: neither. */
  kind?: 'server' | 'client';
  attributes: Attributes;
  /** The headers of a request, which may name the span of the caller (W3C Trace Context). */
  caller?: Readonly<Record<string, string | string[] | undefined>>;
}

/** The ids of a span in the log, named as OpenTelemetry prescribes for logs without its format. */
export interface TraceIds {
  trace_id: string;
  span_id: string;
}

export interface Span {
  setName(name: string): void;
  setAttributes(attributes: Attributes): void;
  /** Marks the work as failed. @param type a short name of the error, without values */
  fail(type: string): void;
  end(): void;
  /** Runs work whose spans are children of this one. */
  run<T>(work: () => T): T;
  /** Returns the headers that name this span to another server (W3C Trace Context). */
  headers(): Record<string, string>;
  ids(): TraceIds;
}

export interface Tracing {
  start(span: NewSpan): Span;
  /** Returns the ids of the span in which the caller runs; undefined: in none. */
  currentIds(): TraceIds | undefined;
  /** Returns whether the caller runs in a span that has not ended and is sampled. */
  isRecording(): boolean;
  /** Sends the spans that have ended, for a limited time, and stops. */
  stop(): Promise<void>;
}
