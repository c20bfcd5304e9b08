const pending: (() => void)[] = [];

/**
 * Does this at the end of this turn of the event loop, after all that was put off before. Responses that are written one after the
 * other find their reader awake, and waking it costs as much as a response (bench/NOTES.md).
 */
export function atTurnEnd(write: () => void): void {
  if (pending.push(write) > 1) return;
  setImmediate(() => {
    for (const one of pending.splice(0)) one();
  });
}
