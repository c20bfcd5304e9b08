/** Signals that ask a process to end. */
export const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** What is under way may take so long to finish. */
const SHUTDOWN_MS = 25_000;

/**
 * Stops in order on SIGTERM and SIGINT, once.
 * @param delayMs that `close` takes on purpose, before anything is closed
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
