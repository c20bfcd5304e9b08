import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { openLog } from './log.ts';

export interface DemoLog {
  logger: Logger;
  /** The file that holds all of it; null: standard error does. */
  path: string | null;
}

/**
 * Opens the log of the demo. On a terminal each request would scroll the key away: there standard error gets warnings and
 * errors alone, and a file that is begun anew at each start gets everything.
 * @param directory is made if it is missing
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
