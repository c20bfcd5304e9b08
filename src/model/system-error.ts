/** Reasons for the error codes of the operating system and of name resolution. */
const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  EEXIST: 'something else has that name',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a loop',
  ENXIO: 'it is a pipe that nobody reads from',
  EMFILE: 'this process has too many files open',
  EIO: 'input/output error',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EADDRINUSE: 'it is in use already',
};

/** Returns the reason of a system error in words; undefined for any other error. */
export function systemReason(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' ? REASONS[code] : undefined;
}
