import { readFileSync } from 'node:fs';

const SAMPLE_MS = 10;

/** Returns the current resident size of a process in bytes; 0 if it has ended. */
export function residentBytes(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
  } catch {
    return 0;
  }
}

/** Samples the resident size of a process. `stop` returns the peak, and the mean of each quarter of the time as its trend. */
export function watchMemory(pid) {
  const sizes = [];
  const timer = setInterval(() => {
    const size = residentBytes(pid);
    if (size > 0) sizes.push(size);
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      const peak = sizes.reduce((a, b) => Math.max(a, b), 0);
      const quarter = Math.ceil(sizes.length / 4);
      const mean = (part) => part.reduce((a, b) => a + b, 0) / Math.max(1, part.length);
      const quarters = [0, 1, 2, 3].map((n) => mean(sizes.slice(n * quarter, (n + 1) * quarter)));
      return { peak, quarters };
    },
  };
}
