import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { AuditAction } from '../audit/audit.schema.ts';
import type { Db } from '../db/database.ts';
import { idPages } from '../db/expressions.ts';
import { withRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import { indicatorId, uuidv5 } from '../model/identity.ts';
import { withHostDot, withoutHostDot } from '../model/normalize-url.ts';
import { compareTlp } from '../model/statement.ts';
import type { IndicatorType, Tlp } from '../model/vocabulary.ts';
import { findCandidates, findIdsAround } from './candidates.queries.ts';
import { type OperatorEntryRule, parseOperatorEntry, urlsOf } from './matching/entry.ts';
import { candidatesOf, type IndexedRule } from './matching/matcher.ts';
import { parseWarninglist, type Warninglist } from './matching/warninglist.ts';
import { reevaluateIndicators, reevaluateMatches } from './reevaluate.ts';
import {
  deleteEntry,
  deleteList,
  findEntries,
  findHiddenIds,
  findListContent,
  findLists,
  findMaxTlp,
  markApplied,
  newEdition,
  type OperatorEntry,
  readEdition,
  type StoredList,
  setEnabled,
  writeEntry,
  writeList,
} from './whitelist.queries.ts';

/** List ids are derived from list names: loading a list again replaces the previous version. */
const LIST_NAMESPACE = '0a1d9bd2-7d0d-4a0c-9a57-6c1f1c2f8f60';
const PAGE = 5_000;
/** Rules for whose matches the database is asked at once. */
const RULES_AT_ONCE = 1_000;
/**
 * With more candidates of these, a pass over all indicators in pages takes less memory and can resume after a stop.
 */
const MAX_CANDIDATES = 100_000;

/** Actor, address, time and reason of a change. */
export interface Change extends AuditActor {
  reason: string | null;
}

/** Thrown when a change is not possible; the message is shown to the operator. */
export class WhitelistError extends Error {
  override name = 'WhitelistError';
}

/**
 * Adds an operator entry; once this returns, the indicators that it matches are hidden.
 * @param tlpCeiling of the caller: nothing is returned about entries and indicators above it
 * @returns the entry, and how many indicators it changed
 * @throws {WhitelistError} when the text is not an entry, or the entry exists already
 */
export async function addEntry(
  db: Db,
  text: string,
  type: IndicatorType | undefined,
  by: Change & { reason: string },
  tlpCeiling: Tlp,
): Promise<{ entry: OperatorEntry; changed: number }> {
  const parsed = parseEntry(text, type);
  const made = { id: randomUUID(), ...parsed, reason: by.reason, addedBy: by.who, addedAt: by.now };
  let entry: OperatorEntry = { ...made, tlp: 'CLEAR' };
  const before = await withAuditedChange(db, by, async (trx) => {
    const isThere = (other: OperatorEntry) => isSame(other, parsed) && compareTlp(other.tlp, tlpCeiling) <= 0;
    if ((await findEntries(trx)).some(isThere))
      throw new WhitelistError(`"${parsed.entry}" is whitelisted already`);
    entry = {
      ...made,
      tlp: (await findMaxTlp(trx, valuesOf(parsed), { tlpCeiling, now: by.now })) ?? 'CLEAR',
    };
    await writeEntry(trx, entry);
    return { action: 'whitelist.add', id: entry.id, before: null, after: { ...parsed, tlp: entry.tlp } };
  });
  const rules = candidatesOf(parsed.kind, parsed.entry, parsed.types);
  const changed = await applyTo(db, before, () => reevaluateMatchesOf(db, rules, by.now), by.now);
  return { entry, changed };
}

function parseEntry(text: string, type: IndicatorType | undefined): OperatorEntryRule {
  const parsed = parseOperatorEntry(text, type);
  if ('rejected' in parsed)
    throw new WhitelistError(`"${text}" is not a whitelist entry: ${parsed.rejected}`);
  return parsed;
}

/** Returns the ids of the indicators whose value is the entry. */
function valuesOf({ entry, types }: OperatorEntryRule): string[] {
  // A single address is stored as a network of one address.
  const value = entry.replace(entry.includes(':') ? /\/128$/ : /\/32$/, '');
  const urls = types.includes('URL') ? urlsOf(entry).map(withoutHostDot) : [];
  return [
    ...types.map((type) => indicatorId(type, value)),
    ...urls.flatMap((url) => [url, withHostDot(url)].map((each) => indicatorId('URL', each))),
  ];
}

function isSame(a: OperatorEntryRule, b: OperatorEntryRule): boolean {
  return a.kind === b.kind && a.entry === b.entry && a.types.join() === b.types.join();
}

/**
 * Re-evaluates all indicators that entries may match.
 * @param rules of the entries; null: no index finds their matches
 * @returns `all` when no index finds them, or they are too many
 */
async function reevaluateMatchesOf(
  db: Db,
  rules: readonly IndexedRule[] | null,
  now: Date,
): Promise<number | 'all'> {
  if (rules === null) return 'all';
  let changed = 0;
  for (let at = 0; at < rules.length; at += RULES_AT_ONCE) {
    const ids = await findCandidates(db, rules.slice(at, at + RULES_AT_ONCE), MAX_CANDIDATES);
    if (ids === null) return 'all';
    changed += await reevaluateIndicators(db, ids, now);
  }
  return changed;
}

/**
 * Re-evaluates the indicators that removed entries hid, alone or together with others.
 * @param id of the list, or of the operator's entry
 * @param rules of the entries
 */
async function reevaluateHiddenBy(
  db: Db,
  id: string,
  rules: readonly IndexedRule[],
  now: Date,
): Promise<number> {
  let changed = 0;
  // Networks around those of the entries may be hidden by another entry together with these, or have parts by these, as
  // domains above their names.
  for (let at = 0; at < rules.length; at += RULES_AT_ONCE) {
    const ids = await findIdsAround(db, rules.slice(at, at + RULES_AT_ONCE));
    changed += await reevaluateIndicators(db, ids, now);
  }
  for await (const ids of idPages((after) => findHiddenIds(db, id, after, PAGE)))
    changed += await reevaluateIndicators(db, ids, now);
  return changed;
}

/** Returns the rules of the entries of a list, for each entry; null: no index finds the matches of an entry. */
const rulesOf = ({ kind, entries, types }: Warninglist) =>
  entries.map((entry) => candidatesOf(kind, entry, types));

/**
 * Re-evaluates the indicators that a change of a list concerns.
 * @param before the list as it was in force; null: it was not
 * @param after the list as it is in force; null: it is not
 */
async function reevaluateListChange(
  db: Db,
  id: string,
  before: unknown,
  after: unknown,
  now: Date,
): Promise<number | 'all'> {
  const listOrNull = (content: unknown) => {
    const list = content === null ? { rejected: '' } : parseWarninglist(content);
    return 'rejected' in list ? null : list;
  };
  const [removed, added] = [listOrNull(before), listOrNull(after)];
  const addedRules = added ? rulesOf(added) : [];
  if (addedRules.includes(null)) return 'all';
  const removedRules = removed ? rulesOf(removed) : [];
  const hidden = await reevaluateHiddenBy(
    db,
    id,
    removedRules.flatMap((rules) => rules ?? []),
    now,
  );
  const matches = await reevaluateMatchesOf(
    db,
    addedRules.flatMap((rules) => rules ?? []),
    now,
  );
  return matches === 'all' ? 'all' : hidden + matches;
}

/**
 * Removes an operator entry; indicators that it alone hid become visible again.
 * @throws {WhitelistError} when there is no such entry
 */
export async function removeEntry(
  db: Db,
  idOrText: string,
  type: IndicatorType | undefined,
  by: Change,
): Promise<{ entry: OperatorEntry; changed: number }> {
  const parsed = parseOperatorEntry(idOrText, type);
  const entry = (await findEntries(db)).find(
    (one) => one.id === idOrText || (!('rejected' in parsed) && isSame(one, parsed)),
  );
  if (!entry) throw new WhitelistError(`there is no entry "${idOrText}"`);
  const before = await withAuditedChange(db, by, async (trx) => {
    if (!(await deleteEntry(trx, entry.id))) throw new WhitelistError(`there is no entry "${idOrText}"`);
    return {
      action: 'whitelist.remove',
      id: entry.id,
      before: { entry: entry.entry, tlp: entry.tlp },
      after: null,
    };
  });
  const rules = candidatesOf(entry.kind, entry.entry, entry.types) ?? [];
  const changed = await applyTo(db, before, () => reevaluateHiddenBy(db, entry.id, rules, by.now), by.now);
  return { entry, changed };
}

/**
 * Loads a list in MISP's format, replacing the list of the same name, and re-evaluates the indicators that it concerns.
 * @throws {WhitelistError} when the content is not a MISP warninglist
 */
export async function loadList(
  db: Db,
  content: unknown,
  by: Change,
): Promise<{ name: string; entries: number; rejected: number; changed: number }> {
  const parsed = parseWarninglist(content);
  if ('rejected' in parsed) throw new WhitelistError(`not a MISP warninglist: ${parsed.rejected}`);
  const list = listOf(parsed, content, { shipped: false, enabled: true, updatedAt: by.now });
  let known: Awaited<ReturnType<typeof findListContent>>;
  const before = await withAuditedChange(db, by, async (trx) => {
    known = await findListContent(trx, list.id);
    await writeList(trx, list);
    const after = { name: list.name, version: list.version, entries: parsed.entries.length };
    return { action: 'whitelist.load', id: list.id, before: null, after };
  });
  const { enabled, content: replaced } = known ?? { enabled: true, content: null };
  const changed = await applyTo(
    db,
    before,
    async () => (enabled ? reevaluateListChange(db, list.id, replaced, content, by.now) : 0),
    by.now,
  );
  return {
    name: list.name,
    entries: parsed.entries.length,
    rejected: parsed.rejectedEntries.length,
    changed,
  };
}

/** @throws {WhitelistError} when there is no such list */
export async function setListEnabled(
  db: Db,
  idOrName: string,
  enabled: boolean,
  by: Change,
): Promise<number> {
  const list = await listNamed(db, idOrName);
  let content: unknown = null;
  const before = await withAuditedChange(db, by, async (trx) => {
    content = (await findListContent(trx, list.id))?.content ?? null;
    await setEnabled(trx, list.id, enabled);
    const action = enabled ? 'whitelist.enable' : 'whitelist.disable';
    return { action, id: list.id, before: { enabled: list.enabled }, after: { enabled } };
  });
  const [was, is] = enabled ? [null, content] : [content, null];
  return applyTo(db, before, () => reevaluateListChange(db, list.id, was, is, by.now), by.now);
}

/**
 * @throws {WhitelistError} when there is no such list, or it comes with the product and can only be switched
 *   off
 */
export async function removeList(db: Db, idOrName: string, by: Change): Promise<number> {
  const list = await listNamed(db, idOrName);
  if (list.shipped) throw new WhitelistError('a list that comes with Tipline can be disabled, not removed');
  let content: unknown = null;
  const before = await withAuditedChange(db, by, async (trx) => {
    content = (await findListContent(trx, list.id))?.content ?? null;
    await deleteList(trx, list.id);
    return { action: 'whitelist.remove', id: list.id, before: { name: list.name }, after: null };
  });
  return applyTo(db, before, () => reevaluateListChange(db, list.id, content, null, by.now), by.now);
}

/** Inserts lists that come with Tipline, unless they are stored in the same version. */
export async function writeShippedLists(db: Db, contents: readonly unknown[], now: Date): Promise<void> {
  for (const content of contents) {
    const parsed = parseWarninglist(content);
    if ('rejected' in parsed) throw new Error(`a shipped whitelist cannot be read: ${parsed.rejected}`);
    const list = listOf(parsed, content, { shipped: true, enabled: true, updatedAt: now });
    await withRevision(db, async (trx, revision) => {
      if ((await findLists(trx)).some(({ id, version }) => id === list.id && version === list.version))
        return;
      await writeList(trx, list);
      await newEdition(trx);
      revision.advance();
    });
  }
}

function listOf(
  parsed: { name: string; description: string; version: string },
  content: unknown,
  rest: Pick<StoredList, 'shipped' | 'enabled' | 'updatedAt'>,
): StoredList {
  const { name, description, version } = parsed;
  return { id: uuidv5(name, LIST_NAMESPACE), name, description, version, content, ...rest };
}

async function listNamed(db: Db, idOrName: string) {
  const list = (await findLists(db)).find(({ id, name }) => id === idOrName || name === idOrName);
  if (!list) throw new WhitelistError(`there is no list "${idOrName}"`);
  return list;
}

interface Written {
  action: AuditAction;
  id: string;
  before: unknown;
  after: unknown;
}

/**
 * Changes the lists in one transaction with an audit entry, a new edition and a new revision, so that an
 * import that was planned with the old edition is planned again.
 * @returns whether all indicators had been evaluated against the previous edition, and the new edition
 */
async function withAuditedChange(
  db: Db,
  { reason, ...by }: Change,
  write: (trx: Transaction<Tables>) => Promise<Written>,
): Promise<{ wasApplied: boolean; edition: string }> {
  return withRevision(db, async (trx, revision) => {
    const { edition, applied } = await readEdition(trx);
    const { id, ...written } = await write(trx);
    await writeAudit(trx, by, { ...written, object: { kind: 'whitelist', id }, reason });
    const next = await newEdition(trx);
    revision.advance();
    return { wasApplied: edition === applied, edition: next };
  });
}

/**
 * Applies a change of the lists or entries to the indicators that it may concern; re-evaluates all indicators when
 * that is not enough.
 */
async function applyTo(
  db: Db,
  { wasApplied, edition }: { wasApplied: boolean; edition: string },
  apply: () => Promise<number | 'all'>,
  now: Date,
): Promise<number> {
  const changed = await apply();
  if (changed === 'all') return reevaluateMatches(db, { now });
  // Indicators that were outstanding before still are: the worker evaluates all of them against the new
  // edition.
  if (wasApplied) await markApplied(db, edition);
  return changed;
}
