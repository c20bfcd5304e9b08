const pending: (() => void)[] = [];

/**
 * Runs a function at the end of this turn of the event loop, after those deferred before. When responses are written
 * directly after each other, the process that reads them stays awake; a wake-up costs as much as a response
 * (bench/NOTES.md).
 */
export function runAtTickEnd(write: () => void): void {
  if (pending.push(write) > 1) return;
  setImmediate(() => {
    for (const one of pending.splice(0)) one();
  });
}
