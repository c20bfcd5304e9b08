import { systemReason } from '../model/system-error.ts';

/** Returns a message for the error of a file operation, with the path; undefined for any other error. */
export function fileProblem(error: unknown, path?: string): string | undefined {
  const { code, syscall, path: named = '' } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || syscall === undefined || (path ?? named) === '') return undefined;
  return `${path ?? named} cannot be used: ${systemReason(error) ?? code}.`;
}
