import { basename } from 'node:path';
import { SingleBar } from 'cli-progress';

/** Shows a progress bar for the reading of a file if standard error is a terminal. */
export function progressBar({ fileName, size }: { fileName: string; size: number }) {
  const bar = new SingleBar({
    format: `${basename(fileName)} [{bar}] {percentage}% | {eta_formatted} left`,
    stream: process.stderr,
    noTTYOutput: false,
    hideCursor: true,
    clearOnComplete: true,
  });
  const shown = process.stderr.isTTY === true;
  if (shown) bar.start(Math.max(1, size), 0);
  return {
    update(bytes: number) {
      if (shown) bar.update(bytes);
    },
    stop: () => bar.stop(),
  };
}
