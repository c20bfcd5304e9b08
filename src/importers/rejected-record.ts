import type { RejectedRecord } from './importer.ts';
import { RecordRejected } from './record-fields.ts';

export function rejectedRecord(of: RejectedRecord['of'], reason: string, where: string): RejectedRecord {
  return { kind: 'rejected', of, reason, where };
}

/** Converts the error of a record whose fields could not be read; rethrows any other error. */
export function rejectedBy(error: unknown, of: RejectedRecord['of'], where: string): RejectedRecord {
  if (error instanceof RecordRejected) return rejectedRecord(of, error.message, where);
  throw error;
}
