import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { openLog } from './log.ts';

export interface DemoLog {
  logger: Logger;
  /** The path of the log file; null: the log goes to standard error only. */
  path: string | null;
}

/**
 * Opens the log of the demo. On a terminal, the lines of the requests would scroll the API key out of view:
 * standard error gets only warnings and errors, and a file, truncated at each start, gets the whole log.
 * @param directory of the file, created if it does not exist
 * @param isTerminal whether standard error is a terminal
 */
export function openDemoLog(level: string, directory: string, isTerminal: boolean): DemoLog {
  if (!isTerminal) return { logger: openLog(level), path: null };
  const path = join(directory, 'tipline.log');
  const file = pino.destination({ dest: path, mkdir: true, append: false, sync: true });
  const streams = pino.multistream([
    { level: 'trace', stream: file },
    { level: 'warn', stream: pino.destination(2) },
  ]);
  return { logger: openLog(level, streams), path };
}
