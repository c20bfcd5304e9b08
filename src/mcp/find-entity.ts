import type { Db } from '../db/database.ts';
import { findActor, listActors } from '../entities/actors/actors.queries.ts';
import { findCampaign, listCampaigns } from '../entities/campaigns/campaigns.queries.ts';
import { nameKey } from '../model/text.ts';
import { isUuid } from '../model/uuid.ts';
import { type Caller, McpInputError } from './caller.ts';
import { label, unmarked } from './third-party.ts';

/** The maximum number of objects whose names contain a text, among which the wanted one is looked for. */
const MAX_CANDIDATES = 200;

interface Candidate {
  id: string;
  /** The first is the one that is shown. */
  names: string[];
}

interface Kind {
  noun: string;
  find(db: Db, caller: Caller, id: string): Promise<{ id: string } | undefined>;
  /** Returns those with a name that contains the text. */
  named(db: Db, caller: Caller, text: string): Promise<Candidate[]>;
}

const page = { page: 1, pageSize: MAX_CANDIDATES };

const ACTOR: Kind = {
  noun: 'actor',
  find: (db, { principal }, id) => findActor(db, principal, id),
  async named(db, { principal }, q) {
    const { rows } = await listActors(db, principal, { q }, page);
    return rows.map(({ id, name, aliases, attack_group_id }) => ({
      id,
      names: [name, ...aliases.map(({ alias }) => alias), ...(attack_group_id ? [attack_group_id] : [])],
    }));
  },
};

const CAMPAIGN: Kind = {
  noun: 'campaign',
  find: (db, { principal }, id) => findCampaign(db, principal, id),
  async named(db, { principal }, q) {
    const { rows } = await listCampaigns(db, principal, { q }, page);
    return rows.map(({ id, name }) => ({ id, names: [name] }));
  },
};

/**
 * @param given an id, a name, an alias or an ATT&CK id; or part of one, if no other actor has it
 * @throws {McpInputError} when there is no such actor, or several match
 */
export const actorId = (caller: Caller, given: string): Promise<string> => idOf(ACTOR, caller, given);

/** @throws {McpInputError} when there is no such campaign, or several match */
export const campaignId = (caller: Caller, given: string): Promise<string> => idOf(CAMPAIGN, caller, given);

async function idOf(kind: Kind, caller: Caller, given: string): Promise<string> {
  const wanted = unmarked(given).trim();
  const { read } = caller.data.database;
  if (isUuid(wanted)) {
    const found = await read((db) => kind.find(db, caller, wanted.toLowerCase()));
    return onlyOne(kind, found ? [{ id: found.id, names: [wanted] }] : []);
  }
  const similar = await read((db) => kind.named(db, caller, wanted));
  const exact = similar.filter(({ names }) => names.some((name) => isSameName(name, wanted)));
  if (exact.length > 0) return onlyOne(kind, exact);
  if (similar.length > 0) return onlyOne(kind, similar);
  // Reports write one name as `APT 28`, `APT-28` and `APT28`.
  const spelled = await read((db) => kind.named(db, caller, longestWord(wanted)));
  return onlyOne(
    kind,
    spelled.filter(({ names }) => names.some((name) => isSameName(name, wanted))),
  );
}

function onlyOne({ noun }: Kind, candidates: readonly Candidate[]): string {
  const [found, ...others] = candidates;
  if (!found) throw new McpInputError(`There is no such ${noun}. The tool search finds names and aliases.`);
  if (others.length === 0) return found.id;
  const listed = candidates.slice(0, 10).map(({ id, names: [name = ''] }) => `${label(name)} ${id}`);
  throw new McpInputError(`Several ${noun}s match; give the id of one: ${listed.join(', ')}.`);
}

function isSameName(name: string, wanted: string): boolean {
  const key = nameKey(wanted);
  return name === wanted || (key !== null && nameKey(name) === key);
}

function longestWord(text: string): string {
  const words = text.match(/\p{L}+|\p{N}+/gu) ?? [text];
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest));
}

/** Returns the names of actors that contain a text in one of their names, for completions. */
export async function completeActor(
  { data, principal }: Caller,
  typed: string,
  most: number,
): Promise<string[]> {
  const filters = typed.trim() === '' ? {} : { q: typed.trim() };
  const { rows } = await data.database.read((db) =>
    listActors(db, principal, filters, { page: 1, pageSize: most }),
  );
  return rows.map(({ name }) => name);
}
