import { userInfo } from 'node:os';
import type { AuditActor } from '../audit/audit.queries.ts';

/** Returns the actor of a command for the audit log; a command has no network address. */
export function cliActor(now = new Date()): AuditActor {
  return { who: osUser(), address: null, now };
}

/** Returns the operating-system user for the audit log. */
export function osUser(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // The user id has no entry in the password file, as is common in containers.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}
