import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/**
 * Reads a line from the terminal that is standard input, without showing it. Ctrl-C ends the process as usual, with
 * the terminal as it was before.
 * @returns an empty text for the end of the input (Ctrl-D)
 */
export async function readHidden(prompt: string): Promise<string> {
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  // Once the terminal shows nothing any more. Standard output may be the result of the command.
  process.stderr.write(prompt);
  let answer = '';
  terminal.once('line', (line) => {
    answer = line;
    terminal.close();
  });
  // In raw mode the terminal sends no signal for Ctrl-C.
  let isInterrupted = false;
  terminal.once('SIGINT', () => {
    isInterrupted = true;
    terminal.close();
    process.kill(process.pid, 'SIGINT');
  });
  return new Promise((resolve) => {
    terminal.once('close', () => {
      process.stderr.write('\n');
      if (!isInterrupted) resolve(answer);
    });
  });
}
