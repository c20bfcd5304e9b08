import type { Db } from '../db/database.ts';
import { redactKeys } from '../http/redact.ts';
import { claimDailyWarning, findExpiringKeys } from './expiring-keys.queries.ts';

interface WarningLog {
  warn(details: object, message: string): void;
}

/** Logs a warning for each key that expires soon, with its name and id, once a day among all workers. */
export async function warnOfExpiringKeys(db: Db, log: WarningLog, now: Date): Promise<void> {
  if (!(await claimDailyWarning(db, now))) return;
  for (const { id, name, expiresAt } of await findExpiringKeys(db, now))
    log.warn(
      { key: redactKeys(name), id, expiresAt },
      'an API key expires soon: rotate it with tipline keys rotate',
    );
}
