import type { Db } from '../db/database.ts';
import { buildMatcher, type ListsMatcher, matcherOf, type WhitelistMatcher } from './matching/matcher.ts';
import { parseWarninglist, type Warninglist } from './matching/warninglist.ts';
import { findEnabledLists, findEntries, readEdition } from './whitelist.queries.ts';

/** Editions cached per matcher. */
const CACHED = 3;

/**
 * Lists may have a million entries, which take seconds to parse: they are parsed again only after a list has
 * changed.
 */
const ofLists = cachedByEdition<ListsMatcher>();
const ofAll = cachedByEdition<WhitelistMatcher>();

/**
 * Returns the matcher of the lists and entries as they are now. Building it takes seconds after a change of a
 * list: callers build it before they open a transaction, so that the revision is not held meanwhile.
 */
export async function currentMatcher(db: Db): Promise<WhitelistMatcher> {
  const { edition, listsEdition } = await readEdition(db);
  return ofAll(db, edition, async () => {
    const entries = buildMatcher(await readEntries(db));
    const lists = await ofLists(db, listsEdition, async () => buildMatcher(await readLists(db)));
    // Operator entries take precedence over all lists.
    return matcherOf([entries, lists]);
  });
}

/**
 * Caches matchers by edition. An edition never changes, so concurrent callers share one build. A caller
 * inside a transaction builds its own matcher: on the embedded engine, a build elsewhere would itself wait
 * for that transaction.
 */
function cachedByEdition<Matcher>(): (
  db: Db,
  edition: string,
  make: () => Promise<Matcher>,
) => Promise<Matcher> {
  const made = new Map<string, Matcher>();
  const making = new Map<string, Promise<Matcher>>();
  const keep = (edition: string, matcher: Matcher) => {
    made.set(edition, matcher);
    for (const old of [...made.keys()].slice(0, -CACHED)) made.delete(old);
    return matcher;
  };
  return async (db, edition, make) => {
    const known = made.get(edition);
    if (known) return known;
    if (db.isTransaction) return keep(edition, await make());
    const shared = making.get(edition) ?? make().finally(() => making.delete(edition));
    making.set(edition, shared);
    return keep(edition, await shared);
  };
}

type IdentifiedList = { id: string; list: Warninglist };

async function readEntries(db: Db): Promise<IdentifiedList[]> {
  return (await findEntries(db)).map(({ id, kind, entry, types }) => ({
    id,
    list: { name: entry, description: '', version: '', kind, types, entries: [entry] },
  }));
}

async function readLists(db: Db): Promise<IdentifiedList[]> {
  const lists: IdentifiedList[] = [];
  for (const { id, content } of await findEnabledLists(db)) {
    const parsed = parseWarninglist(content);
    if (!('rejected' in parsed)) lists.push({ id, list: parsed });
  }
  return lists;
}
