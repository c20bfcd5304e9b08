import type { Clock } from '../clock.ts';
import type { Database, Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { isBlock, prefixLength } from '../model/address-ranges.ts';
import { TLPS, type Tlp } from '../model/vocabulary.ts';
import { type BloomFilter, emptyWords, openBloomFilter, type SharedWords } from './bloom-filter.ts';
import { hashesOf, type Listed } from './listed.ts';
import { countByTlp, type ListedRow, listedPage, listedSince, type Point } from './listed-values.queries.ts';

/** Says without a query that a value is not listed, which holds for most values that are looked up. */
export interface ListedValues {
  /**
   * Returns the values that may be visible up to a TLP ceiling, as exact as every cached response; null: that is not known
   * now, and the database must be asked about each value.
   */
  upTo(ceiling: Tlp, now: Date): Promise<Listed | null>;
  /** Returns the size of the filters in bytes, and the number of values in them; null: there are none yet. */
  size(): { bytes: number; values: number } | null;
  /** Stops reading, and stores the filters. */
  close(): Promise<void>;
}

/** Stored filters; see filter-file.ts. */
export interface FilterStore {
  read(): Promise<StoredFilters | null>;
  write(filters: StoredFilters): Promise<void>;
}

export interface StoredFilters {
  point: Point;
  /** The instant at which expired values were left out, in milliseconds. */
  expiredBy: number;
  levels: StoredLevel[];
}

export interface StoredLevel {
  words: SharedWords;
  /** The number of values for which the filter was made, and of those that were added. */
  planned: number;
  added: number;
  lengths: { IPV4: number[]; IPV6: number[] };
}

/** The values of one TLP. */
interface Level {
  filter: BloomFilter;
  planned: number;
  lengths: Record<AddressType, Set<number>>;
}

type AddressType = 'IPV4' | 'IPV6';

interface State {
  levels: Level[];
  point: Point;
  /** The epoch of the database in which the point was confirmed; see RevisionWatch. */
  epoch: number;
  expiredBy: number;
}

const BYTES_A_VALUE = 2;
/** After an error, filters are not made again for so long. */
const RETRY_MS = 60_000;
/** Filters with so many times the values for which they were made are made anew: by then 1 % of tests are wrong. */
const MAX_GROWTH = 1.5;
/** Sizes that tests make smaller. */
interface Limits {
  /** Rows of a page: other requests are served in between. */
  page: number;
  /** Changed rows that are read at once; a request waits for no more. */
  changed: number;
  /** The least size of the filter of a TLP, in bytes. */
  leastBytes: number;
}
const LIMITS: Limits = { page: 2_000, changed: 10_000, leastBytes: 64 * 1024 };
/**
 * Values that expired this long ago are left out. It is more than the time between the arrival of a request and its look-up.
 */
const EXPIRED_MS = 60_000;

export function openListedValues(
  { db, revisions }: Pick<Database, 'db' | 'revisions'>,
  clock: Clock,
  store: FilterStore,
  onError: (error: Error) => void,
  limits = LIMITS,
): ListedValues {
  let state: State | null = null;
  let making: Promise<void> | null = null;
  let advancing: Promise<State | null> | null = null;
  let retryAt = 0;
  let isClosed = false;
  let isStored = true;

  const everything = (): Principal => ({
    tlpCeiling: TLPS[TLPS.length - 1] as Tlp,
    now: new Date(clock().getTime() - EXPIRED_MS),
  });
  const isCurrent = ({ point, epoch }: State) =>
    epoch === revisions.epoch() && revisions.isFresh('revision', point.revision);

  /** Adds the next changes to filters. */
  const step = async (of: State): Promise<'complete' | 'incomplete' | 'impossible'> => {
    const epoch = revisions.epoch();
    const principal = everything();
    const since = await listedSince(db, principal, of.point.revision, limits.changed);
    const isOtherHistory = since.token === null || since.token !== of.point.token;
    const isStuck = since.hasMore && since.reached.revision <= of.point.revision;
    if (isOtherHistory || isStuck) return 'impossible';
    of.expiredBy = Math.max(of.expiredBy, principal.now.getTime());
    for (const row of since.rows) addTo(of.levels, row);
    if (since.reached.revision !== of.point.revision) isStored = false;
    of.point = since.reached;
    of.epoch = epoch;
    return since.hasMore ? 'incomplete' : 'complete';
  };
  const catchUp = async (of: State): Promise<boolean> => {
    for (;;) {
      const reached = await step(of);
      if (reached !== 'incomplete' || isClosed) return reached === 'complete';
    }
  };
  const save = async (of: State) => {
    isStored = true;
    await store.write(storedOf(of));
  };
  const readStored = () =>
    readState(store).catch((error) => {
      onError(error);
      return null;
    });
  /** @param from filters that lack some changes; null: the stored ones; 'nothing': all values are read again */
  const make = async (from: State | null | 'nothing') => {
    const begun = from === 'nothing' ? null : (from ?? (await readStored()));
    if (begun && (await catchUp(begun))) {
      state = begun;
      return;
    }
    const made = await readAll(db, everything(), limits, () => isClosed);
    if (!made) return;
    if (!(await catchUp(made))) {
      if (!isClosed) throw new Error('the values changed too much while the filters were made');
      return;
    }
    state = made;
    await save(made);
  };
  const startMaking = (from: State | null | 'nothing') => {
    if (isClosed || making || performance.now() < retryAt) return;
    making = make(from)
      .catch((error) => {
        retryAt = performance.now() + RETRY_MS;
        onError(error);
      })
      .finally(() => {
        making = null;
      });
  };
  /** Reads the changes since. Returns the filters, or null if there are more changes than a request waits for. */
  const advance = async (of: State): Promise<State | null> => {
    const reached = await step(of);
    if (reached === 'complete') {
      if (of.levels.some(({ filter, planned }) => filter.added > planned * MAX_GROWTH))
        startMaking('nothing');
      return of;
    }
    if (state === of) state = null;
    startMaking(reached === 'incomplete' ? of : 'nothing');
    return null;
  };
  /** Returns filters that include everything that was committed before the call. */
  const upToDate = async (): Promise<State | null> => {
    // A reading that has begun before may lack the last commits.
    if (advancing && state && !isCurrent(state)) await advancing.catch(() => {});
    if (state === null) startMaking(null);
    if (state === null || isCurrent(state)) return state;
    advancing ??= advance(state).finally(() => {
      advancing = null;
    });
    return advancing;
  };

  return {
    async upTo(ceiling, now) {
      // The database itself reports why it does not answer.
      const current = await upToDate().catch(() => null);
      if (current === null || now.getTime() < current.expiredBy) return null;
      return listedOf(current.levels.slice(0, TLPS.indexOf(ceiling) + 1));
    },
    size() {
      if (state === null) return null;
      const sum = (of: (level: Level) => number) =>
        (state?.levels ?? []).reduce((total, level) => total + of(level), 0);
      return {
        bytes: sum(({ filter }) => filter.words.byteLength),
        values: sum(({ filter }) => filter.added),
      };
    },
    async close() {
      isClosed = true;
      await Promise.allSettled([making, advancing]);
      if (state && !isStored) await save(state).catch(onError);
    },
  };
}

/** Reads all values; null: it was stopped. Values that change meanwhile are among the changes after the returned point. */
async function readAll(
  db: Db,
  principal: Principal,
  { page, leastBytes }: Limits,
  isStopped: () => boolean,
): Promise<State | null> {
  const { reached } = await listedSince(db, principal, Number.MAX_SAFE_INTEGER, 1);
  const counts = await countByTlp(db, principal);
  const levels = TLPS.map((tlp) => emptyLevel(counts.get(tlp) ?? 0, leastBytes));
  for (let after = -1, isLast = false; !isLast; ) {
    if (isStopped()) return null;
    const rows = await listedPage(db, principal, after, page);
    for (const row of rows) addTo(levels, row);
    after = rows.at(-1)?.number ?? after;
    isLast = rows.length < page;
  }
  return { levels, point: reached, epoch: -1, expiredBy: principal.now.getTime() };
}

function emptyLevel(values: number, leastBytes: number): Level {
  const bytes = Math.max(leastBytes, values * BYTES_A_VALUE);
  return {
    filter: openBloomFilter(emptyWords(bytes)),
    planned: bytes / BYTES_A_VALUE,
    lengths: { IPV4: new Set(), IPV6: new Set() },
  };
}

function addTo(levels: readonly Level[], { type, tlp, normalized }: ListedRow): void {
  const level = levels[TLPS.indexOf(tlp)] as Level;
  for (const hash of hashesOf(type, normalized)) level.filter.add(hash);
  if ((type === 'IPV4' || type === 'IPV6') && isBlock(normalized))
    level.lengths[type].add(prefixLength(normalized));
}

function listedOf(levels: readonly Level[]): Listed {
  const filters = levels.filter(({ filter }) => filter.added > 0).map(({ filter }) => filter.words);
  const lengthsOf = (type: AddressType) =>
    [...new Set(levels.flatMap(({ lengths }) => [...lengths[type]]))].sort((a, b) => b - a);
  return {
    filters,
    prefixLengths: new Map([
      ['IPV4', lengthsOf('IPV4')],
      ['IPV6', lengthsOf('IPV6')],
    ]),
  };
}

async function readState(store: FilterStore): Promise<State | null> {
  const stored = await store.read();
  if (stored === null) return null;
  const levels = stored.levels.map(({ words, planned, added, lengths }) => ({
    filter: openBloomFilter(words, added),
    planned,
    lengths: { IPV4: new Set(lengths.IPV4), IPV6: new Set(lengths.IPV6) },
  }));
  return { levels, point: stored.point, epoch: -1, expiredBy: stored.expiredBy };
}

function storedOf({ levels, point, expiredBy }: State): StoredFilters {
  return {
    point,
    expiredBy,
    levels: levels.map(({ filter: { words, added }, planned, lengths }) => ({
      // They may change while they are written.
      words: copyOf(words),
      planned,
      added,
      lengths: { IPV4: [...lengths.IPV4], IPV6: [...lengths.IPV6] },
    })),
  };
}

function copyOf(words: SharedWords): SharedWords {
  const copy = emptyWords(words.byteLength);
  copy.set(words);
  return copy;
}
