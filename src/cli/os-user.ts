import { userInfo } from 'node:os';
import type { AuditActor } from '../audit/audit.queries.ts';

/** The same, as what is done now on the machine itself. */
export function byWhoRunsThis(now = new Date()): AuditActor {
  return { who: osUser(), address: null, now };
}

/** Who runs a command, for the audit: the user of this machine. */
export function osUser(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // No entry in the password file, as in containers.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}
