/** Returns a function that calls another one at most once in an interval, and otherwise does nothing. */
export function throttled<Arguments extends unknown[]>(
  call: (...given: Arguments) => void,
  intervalMs: number,
): (...given: Arguments) => void {
  let next = 0;
  return (...given) => {
    if (performance.now() < next) return;
    next = performance.now() + intervalMs;
    call(...given);
  };
}
