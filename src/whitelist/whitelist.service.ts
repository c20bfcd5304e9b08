import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { type AuditAction, type By, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import { commitRevision, lockRevision } from '../db/revision/revision.ts';
import type { Tables } from '../db/tables.ts';
import { indicatorId, uuidv5 } from '../model/identity.ts';
import { compareTlp } from '../model/statement.ts';
import type { IndicatorType, Tlp } from '../model/vocabulary.ts';
import { findCandidates } from './candidates.queries.ts';
import { candidatesOf } from './matching/candidates.ts';
import { type OperatorEntryRule, parseOperatorEntry } from './matching/operator-entry.ts';
import { parseWarninglist } from './matching/warninglist.ts';
import { reevaluateMatches, rewriteInBatches } from './reevaluate.ts';
import {
  deleteEntry,
  deleteList,
  findEntries,
  findLists,
  hiddenByList,
  markApplied,
  markingOf,
  newEdition,
  type OperatorEntry,
  readEdition,
  type StoredList,
  setEnabled,
  writeEntry,
  writeList,
} from './whitelist.queries.ts';

/** List ids follow from their names: a list that is loaded again takes the place of the one before. */
const LIST_NAMESPACE = '0a1d9bd2-7d0d-4a0c-9a57-6c1f1c2f8f60';
const PAGE = 5_000;
/** For more, going through all indicators in pages takes less memory and goes on after a stop. */
const MAX_CANDIDATES = 100_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Who changes something, where, when, and why. */
export interface Change extends By {
  reason: string | null;
}

/** What cannot be done, told to a person. */
export class WhitelistError extends Error {
  override name = 'WhitelistError';
}

/**
 * Whitelists what an operator names; from its return on nobody sees what it hides.
 * @param tlpCeiling of the caller: nothing is returned about entries and indicators above it
 * @returns the entry, and how many indicators it changed
 * @throws {WhitelistError} when it is no entry, or stands there already
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
  const before = await change(db, by, async (trx) => {
    const isThere = (other: OperatorEntry) => isSame(other, parsed) && compareTlp(other.tlp, tlpCeiling) <= 0;
    if ((await findEntries(trx)).some(isThere))
      throw new WhitelistError(`"${parsed.entry}" is whitelisted already`);
    entry = { ...made, tlp: (await markingOf(trx, valuesOf(parsed), tlpCeiling)) ?? 'CLEAR' };
    await writeEntry(trx, entry);
    return { action: 'whitelist.add', id: entry.id, before: null, after: { ...parsed, tlp: entry.tlp } };
  });
  const changed = await applyTo(db, before, () => reach(db, parsed, by.now), by.now);
  return { entry, changed };
}

function parseEntry(text: string, type: IndicatorType | undefined): OperatorEntryRule {
  const parsed = parseOperatorEntry(text, type);
  if ('rejected' in parsed)
    throw new WhitelistError(`"${text}" is not a whitelist entry: ${parsed.rejected}`);
  return parsed;
}

/** The ids of the indicators that have it for their value. */
function valuesOf({ entry, types }: OperatorEntryRule): string[] {
  // An address stands there as a network of one.
  const value = entry.replace(/\/(32|128)$/, '');
  return types.map((type) => indicatorId(type, value));
}

function isSame(a: OperatorEntryRule, b: OperatorEntryRule): boolean {
  return a.kind === b.kind && a.entry === b.entry && a.types.join() === b.types.join();
}

/** Holds whatever the entry may hide against the lists. */
async function reach(db: Db, rule: OperatorEntryRule, now: Date): Promise<number | 'all'> {
  const rules = candidatesOf(rule.kind, rule.entry, rule.types);
  const ids = rules && (await findCandidates(db, rules, MAX_CANDIDATES));
  return ids ? rewriteInBatches(db, ids, now) : 'all';
}

/**
 * Takes an operator's entry away; what it alone hid is seen again.
 * @throws {WhitelistError} when there is none
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
  const before = await change(db, by, async (trx) => {
    if (!(await deleteEntry(trx, entry.id))) throw new WhitelistError(`there is no entry "${idOrText}"`);
    return {
      action: 'whitelist.remove',
      id: entry.id,
      before: { entry: entry.entry, tlp: entry.tlp },
      after: null,
    };
  });
  const free = () =>
    everyPage(
      (after) => hiddenByList(db, entry.id, after, PAGE),
      (ids) => rewriteInBatches(db, ids, by.now),
    );
  return { entry, changed: await applyTo(db, before, free, by.now) };
}

/**
 * Loads a list in MISP's format, in place of the one of its name, and holds everything against it.
 * @throws {WhitelistError} when it is none
 */
export async function loadList(
  db: Db,
  content: unknown,
  by: Change,
): Promise<{ name: string; entries: number; rejected: number; changed: number }> {
  const parsed = parseWarninglist(content);
  if ('rejected' in parsed) throw new WhitelistError(`not a MISP warninglist: ${parsed.rejected}`);
  const list = listOf(parsed, content, { shipped: false, enabled: true, updatedAt: by.now });
  await change(db, by, async (trx) => {
    await writeList(trx, list);
    const after = { name: list.name, version: list.version, entries: parsed.entries.length };
    return { action: 'whitelist.load', id: list.id, before: null, after };
  });
  const changed = await reevaluateMatches(db, { now: by.now });
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
  await change(db, by, async (trx) => {
    await setEnabled(trx, list.id, enabled);
    const action = enabled ? 'whitelist.enable' : 'whitelist.disable';
    return { action, id: list.id, before: { enabled: list.enabled }, after: { enabled } };
  });
  return reevaluateMatches(db, { now: by.now });
}

/** @throws {WhitelistError} when there is no such list, or it comes with the product and can only be switched off */
export async function removeList(db: Db, idOrName: string, by: Change): Promise<number> {
  const list = await listNamed(db, idOrName);
  if (list.shipped) throw new WhitelistError('a list that comes with Tipline can be disabled, not removed');
  await change(db, by, async (trx) => {
    await deleteList(trx, list.id);
    return { action: 'whitelist.remove', id: list.id, before: { name: list.name }, after: null };
  });
  return reevaluateMatches(db, { now: by.now });
}

/**
 * Puts the lists that come with the product into the database, or in place of those of an older version.
 * Indicators are held against them later, by the worker or the next command.
 */
export async function ensureShippedLists(db: Db, contents: readonly unknown[], now: Date): Promise<void> {
  const known = new Map((await findLists(db)).map(({ id, version }) => [id, version]));
  for (const content of contents) {
    const parsed = parseWarninglist(content);
    if ('rejected' in parsed) throw new Error(`a shipped whitelist cannot be read: ${parsed.rejected}`);
    const list = listOf(parsed, content, { shipped: true, enabled: true, updatedAt: now });
    if (known.get(list.id) === list.version) continue;
    await db.transaction().execute(async (trx) => {
      const lock = await lockRevision(trx);
      if ((await findLists(trx)).some(({ id, version }) => id === list.id && version === list.version))
        return;
      await writeList(trx, list);
      await newEdition(trx);
      await commitRevision(trx, lock);
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
 * A change of the lists: its audit, its edition, and a revision, so that an import that was planned with the old
 * edition is planned again.
 * @returns whether everything had been held against the edition before, and the new edition
 */
async function change(
  db: Db,
  { reason, ...by }: Change,
  write: (trx: Transaction<Tables>) => Promise<Written>,
): Promise<{ wasApplied: boolean; edition: string }> {
  return db.transaction().execute(async (trx) => {
    const lock = await lockRevision(trx);
    const { edition, applied } = await readEdition(trx);
    const { id, ...written } = await write(trx);
    await writeAudit(trx, by, { ...written, object: { kind: 'whitelist', id }, reason });
    const next = await newEdition(trx);
    await commitRevision(trx, lock);
    return { wasApplied: edition === applied, edition: next };
  });
}

/** Applies one entry to what it may concern; when that is not enough, everything is held against the lists. */
async function applyTo(
  db: Db,
  { wasApplied, edition }: { wasApplied: boolean; edition: string },
  apply: () => Promise<number | 'all'>,
  now: Date,
): Promise<number> {
  const changed = await apply();
  if (changed === 'all') return reevaluateMatches(db, { now });
  // Whatever stood out before still does: the worker holds everything against the new edition.
  if (wasApplied) await markApplied(db, edition);
  return changed;
}

async function everyPage(
  next: (after: string) => Promise<string[]>,
  use: (ids: string[]) => Promise<number>,
): Promise<number> {
  let [after, count] = [BEFORE_ALL, 0];
  for (;;) {
    const ids = await next(after);
    const last = ids.at(-1);
    if (last === undefined) return count;
    count += await use(ids);
    after = last;
  }
}
