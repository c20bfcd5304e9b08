import { readFileSync } from 'node:fs';

const SAMPLE_MS = 10;

/** The resident size of a process now; 0 when it has ended. */
export function residentBytes(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
  } catch {
    return 0;
  }
}

/** Watches the resident size of a process. `stop` gives its peak, and the mean of each quarter of the time: is it flat? */
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
