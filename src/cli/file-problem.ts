/** For what the operating system says of a file. */
const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of the path is no directory',
  EISDIR: 'it is a directory',
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its links lead in a circle',
  ENXIO: 'it is a pipe that nobody reads from',
  EMFILE: 'this process has too many files open',
};

/** The error of a file operation in words, with the path; undefined: it is none. */
export function fileProblem(error: unknown, path?: string): string | undefined {
  const { code, syscall, path: named = '' } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || syscall === undefined || (path ?? named) === '') return undefined;
  return `${path ?? named} cannot be used (${syscall}): ${REASONS[code ?? ''] ?? code}.`;
}
