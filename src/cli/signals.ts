/** Signals that request a graceful shutdown. */
export const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The maximum duration of a shutdown; after it, the process exits with code 1. */
const SHUTDOWN_MS = 25_000;

/**
 * Shuts the process down on the first SIGTERM or SIGINT and ignores later ones.
 * @param delayMs the time that `close` waits before it closes anything; it extends the maximum duration
 */
export function stopOnSignals(close: () => Promise<void>, delayMs = 0): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), delayMs + SHUTDOWN_MS).unref();
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of END_SIGNALS) process.on(signal, stop);
}
