import { createReadStream } from 'node:fs';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RelationshipRecord } from '../importers/importer.ts';

/** The maximum number of relationships in memory; more of them go to a temporary file, one line of JSON each. */
const MAX_IN_MEMORY = 50_000;

/** Relationships with an end that is not stored yet. Their number is not limited. */
export interface PendingRelationships {
  add(records: readonly RelationshipRecord[]): Promise<void>;
  /** Yields all relationships, in groups of at most `size`. */
  groups(size: number): AsyncGenerator<RelationshipRecord[]>;
  close(): Promise<void>;
}

export function createPendingRelationships(): PendingRelationships {
  let held: RelationshipRecord[] = [];
  let directory: string | null = null;
  const file = () => join(directory ?? '', 'relationships');
  return {
    async add(records) {
      held = held.concat(records);
      if (held.length <= MAX_IN_MEMORY) return;
      directory ??= await mkdtemp(join(tmpdir(), 'tipline-'));
      await appendFile(file(), held.map((record) => `${JSON.stringify(record)}\n`).join(''));
      held = [];
    },
    async *groups(size) {
      let group: RelationshipRecord[] = [];
      for await (const record of all()) {
        group.push(record);
        if (group.length < size) continue;
        yield group;
        group = [];
      }
      if (group.length > 0) yield group;
    },
    async close() {
      if (directory) await rm(directory, { recursive: true, force: true });
    },
  };

  async function* all(): AsyncGenerator<RelationshipRecord> {
    if (directory) {
      for await (const line of createInterface({ input: createReadStream(file()) })) {
        yield JSON.parse(line) as RelationshipRecord;
      }
    }
    yield* held;
  }
}
