import type { Importer, ImportRecord, IndicatorRecord } from '../importers/importer.ts';
import { fileInput } from '../importers/recognize.ts';
import { indicatorId } from '../model/identity.ts';
import { FeedRunError, type Fetched, type FetchedFile } from './fetching.ts';

/** The indicators in a complete copy of a source. */
export interface Copy {
  /** Whether it is a snapshot list: `ids` then contains all its indicators, not only those stated without a date. */
  members: boolean;
  ids: Set<string>;
  /** Ids that occur in several records, which are the complete statement only together. */
  repeated: Set<string>;
}

export const inputOf = ({ label, path }: FetchedFile) => fileInput({ fileName: label, path });

/** The number of rejected records up to which their share is not significant. */
const FEW = 20;
const MAX_REJECTED_SHARE = 0.5;

/**
 * Parses all files and writes nothing: a feed whose content has become something else must not change anything. The
 * share of rejected records matters only in a complete copy: of the recent changes, most may be of kinds that are not
 * stored.
 * @param copy collects the ids of the indicators
 * @throws {UnreadableInput} or {FeedRunError} with the reason
 */
export async function validateFeed(
  importer: Importer,
  { files, whole }: Fetched,
  copy: Copy | null,
  signal: AbortSignal,
): Promise<void> {
  let [accepted, rejected] = [0, 0];
  const reasons = new Map<string, number>();
  for (const file of files) {
    signal.throwIfAborted();
    for await (const part of importer.read(inputOf(file))) {
      signal.throwIfAborted();
      for (const record of part) {
        const reason = unusableBecause(record);
        if (reason === undefined) accepted++;
        else {
          rejected++;
          if (reasons.size < 1000) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        }
        if (record.kind === 'indicator' && reason === undefined && copy) noteIn(copy, record);
      }
    }
  }
  const tooMany = rejected > FEW && rejected > (accepted + rejected) * MAX_REJECTED_SHARE;
  if (!whole || (!tooMany && (accepted > 0 || rejected === 0))) return;
  const [reason] = [...reasons].sort(([, a], [, b]) => b - a)[0] ?? [''];
  throw new FeedRunError(
    `${rejected} of ${accepted + rejected} records cannot be used, most often: ${reason}`,
  );
}

/** Returns the reason why a record adds nothing to a list: it is rejected, or its source has withdrawn it; undefined: it does. */
function unusableBecause(record: ImportRecord): string | undefined {
  if (record.kind === 'rejected') return record.reason;
  return record.kind === 'indicator' ? record.withdrawn : undefined;
}

function noteIn({ members, ids, repeated }: Copy, { type, normalized, statedAt }: IndicatorRecord): void {
  if (!members && statedAt !== null) return;
  // As one piece of memory: an id that is joined of parts keeps each of them, which is four times as much.
  const id = Buffer.from(indicatorId(type, normalized), 'latin1').toString('latin1');
  if (ids.has(id)) repeated.add(id);
  else if (ids.size < MAX_MEMBERS) ids.add(id);
  else throw new FeedRunError(`the list has more than ${MAX_MEMBERS} indicators`);
}

/** The maximum number of indicators of a complete copy, whose ids are in memory: some 100 bytes each. */
const MAX_MEMBERS = 5_000_000;
