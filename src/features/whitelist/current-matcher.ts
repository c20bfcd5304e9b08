import type { Db } from '../../db/open.ts';
import { buildMatcher, type WhitelistMatcher } from '../../whitelist/matcher.ts';
import { parseWarninglist, type Warninglist } from '../../whitelist/warninglist.ts';
import { findEnabledLists, findEntries, readEdition } from './whitelist.queries.ts';

/** An edition never changes: what was made of it holds for all who ask. The last few are kept. */
const made = new Map<string, WhitelistMatcher>();
const KEPT = 3;
/** Under way outside of transactions. */
const making = new Map<string, Promise<WhitelistMatcher>>();

/**
 * What decides by the lists and entries as they are now. Making it takes a while after a change: whoever is about to
 * open a transaction asks for it before, so that the revision is not held meanwhile. Nobody in a transaction waits for one
 * that is being made elsewhere: on the embedded engine that would wait for the transaction.
 */
export async function currentMatcher(db: Db): Promise<WhitelistMatcher> {
  const { edition } = await readEdition(db);
  const known = made.get(edition);
  if (known) return known;
  if (db.isTransaction) return keep(edition, await makeMatcher(db));
  const shared = making.get(edition) ?? makeMatcher(db).finally(() => making.delete(edition));
  making.set(edition, shared);
  return keep(edition, await shared);
}

function keep(edition: string, matcher: WhitelistMatcher): WhitelistMatcher {
  made.set(edition, matcher);
  for (const old of [...made.keys()].slice(0, -KEPT)) made.delete(old);
  return matcher;
}

async function makeMatcher(db: Db): Promise<WhitelistMatcher> {
  const lists: { id: string; list: Warninglist }[] = [];
  for (const { id, kind, entry, types } of await findEntries(db)) {
    lists.push({ id, list: { name: entry, description: '', version: '', kind, types, entries: [entry] } });
  }
  for (const { id, content } of await findEnabledLists(db)) {
    const parsed = parseWarninglist(content);
    if (!('rejected' in parsed)) lists.push({ id, list: parsed });
  }
  return buildMatcher(lists);
}
