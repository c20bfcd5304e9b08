import type { NewSpan, Span, Tracing } from './span.ts';

/**
 * Traces of OpenTelemetry. The few places through which everything passes (requests, statements, imports, jobs, outbound requests) call
 * `traced`. Without a collector nothing of OpenTelemetry is loaded, and `traced` only calls the work.
 */

/** The part of a span that is given to the work. */
type WorkSpan = Pick<Span, 'setAttributes' | 'fail' | 'headers'>;

const NO_SPAN: WorkSpan = { setAttributes: () => {}, fail: () => {}, headers: () => ({}) };

let tracing: Tracing | null = null;

/** Returns the tracing of this process; null: it is off. */
export const currentTracing = (): Tracing | null => tracing;

/**
 * Starts tracing, until `stopTracing`.
 * @param report called with the reason when spans cannot be sent, at most once a minute
 */
export async function startTracing(report: (reason: string) => void): Promise<void> {
  const { openTelemetry } = await import('./opentelemetry.ts');
  tracing ??= openTelemetry(report);
}

/** Sends the remaining spans, for a limited time. */
export async function stopTracing(): Promise<void> {
  const stopped = tracing;
  tracing = null;
  await stopped?.stop();
}

/** Runs work in a span; an error of the work marks it as failed. */
export async function traced<T>(span: () => NewSpan, work: (span: WorkSpan) => Promise<T>): Promise<T> {
  if (tracing === null) return work(NO_SPAN);
  const started = tracing.start(span());
  try {
    return await started.run(() => work(started));
  } catch (error) {
    started.fail(errorType(error));
    throw error;
  } finally {
    started.end();
  }
}

/** Returns the code of an error, or else its name: its message may have values. */
export function errorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : '_OTHER';
}
