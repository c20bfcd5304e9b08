import { indicatorId } from '../model/identity.ts';
import type { NormalizedIndicator } from '../model/normalize-address.ts';
import { FILE_HASHES, isFileHash } from '../model/vocabulary.ts';

type Observable = (NormalizedIndicator & { ofCertificate?: boolean }) | { rejected: string };

const isOfFile = (observable: Observable): observable is NormalizedIndicator =>
  !('rejected' in observable) && isFileHash(observable.type) && !observable.ofCertificate;

/**
 * Returns the id of the file whose hashes are among the observables of one record: that of its strongest hash. Null: there
 * is one hash at most, or two of one algorithm, which cannot be of one file. Anything but hashes of files is ignored.
 */
export function fileOf(observables: readonly Observable[]): string | null {
  const hashes = new Map<string, string>();
  for (const { type, normalized } of observables.filter(isOfFile)) {
    if ((hashes.get(type) ?? normalized) !== normalized) return null;
    hashes.set(type, normalized);
  }
  const strongest = FILE_HASHES.find((type) => hashes.has(type));
  if (hashes.size < 2 || strongest === undefined) return null;
  return indicatorId(strongest, hashes.get(strongest) ?? '');
}

/** Returns the observables, the hashes of files with the file that they are of; null: it is not known. */
export function inFile<T extends Observable>(
  observables: readonly T[],
  file: string | null,
): (T & { file?: string })[] {
  if (file === null) return [...observables];
  return observables.map((observable) => (isOfFile(observable) ? { ...observable, file } : observable));
}
