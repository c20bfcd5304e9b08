import { systemReason } from '../model/system-error.ts';

/**
 * Ends the process quietly when the reader has seen enough (`tipline … | head`); reports any other error of standard output
 * once and sets the exit code.
 * @returns whether an error is the one that was reported
 */
export function watchStandardOutput(exitCode: number): (error: unknown) => boolean {
  let reported: unknown;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.exitCode = exitCode;
    if (reported === undefined)
      process.stderr.write(`Standard output cannot be written: ${systemReason(error) ?? error.message}.\n`);
    reported = error;
  });
  return (error) => error === reported;
}
