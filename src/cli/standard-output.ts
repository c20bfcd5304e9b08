import { systemReason } from '../model/system-error.ts';

/**
 * Ends the process with exit code 0 when the reader closes the pipe (`tipline … | head`). Reports any other error of
 * standard output once and sets the exit code.
 * @returns a function that tells whether an error has been reported already
 */
export function watchStandardOutput(exitCode: number): (error: unknown) => boolean {
  let reported: unknown;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.exitCode = exitCode;
    if (reported === undefined)
      process.stderr.write(`Cannot write to standard output: ${systemReason(error) ?? error.message}.\n`);
    reported = error;
  });
  return (error) => error === reported;
}
