import { userInfo } from 'node:os';

/** Who runs a command, for the audit: the user of this machine. */
export function whoRunsThis(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // No entry in the password file, as in containers.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}
