import type { Motivation } from '../model/vocabulary.ts';
import { NAMER_BY_UUID } from './actor-namers.ts';
import { countryCodeOf } from './country-names.ts';
import type { ActorRecord } from './importer.ts';
import { countryOf, type Fields, field, otherNames, tagsOf, textOf } from './record-fields.ts';

type ActorFields = Pick<
  ActorRecord,
  'aliases' | 'attackGroupId' | 'country' | 'motivation' | 'targetSectors' | 'targetCountries'
>;

/** The motivations that types of incidents (of the Council on Foreign Relations) and motives imply. */
const MOTIVATION_BY_WORD = new Map<string, Motivation>([
  ['espionage', 'ESPIONAGE'],
  ['financial theft', 'FINANCIAL'],
  ['business email compromise', 'FINANCIAL'],
  ['extortion', 'FINANCIAL'],
  ['cybercrime', 'FINANCIAL'],
  ['sabotage', 'DESTRUCTION'],
  ['data destruction', 'DESTRUCTION'],
  ['hacktivists-nationalists', 'HACKTIVISM'],
  ['information operations', 'INFORMATION_OPS'],
]);

const GROUP_ID = /^G\d{4}$/;
const ORIGIN = 'origin:';

/**
 * Returns the fields of an actor from the `meta` of a threat-actor cluster.
 * @param attackGroupId from the cluster's name or `external_id`; null: its synonyms may contain it
 */
export function galaxyActorFields(name: string, meta: Fields, attackGroupId: string | null): ActorFields {
  const synonyms = otherNames(name, metaList(meta, 'synonyms'));
  const groupIds = synonyms.filter((synonym) => GROUP_ID.test(synonym));
  // A cluster with two ids spans two groups of ATT&CK and is neither of them.
  const groupId = attackGroupId ?? (groupIds.length === 1 ? (groupIds[0] ?? null) : null);
  const names = synonyms.filter((synonym) => synonym !== groupId);
  const namers = namersOf(meta);
  const given = namers.has(name) ? [name, ...names] : names;
  return {
    aliases: given.map((alias) => ({ alias, namedBy: namers.get(alias) ?? null })),
    attackGroupId: groupId,
    country: statedCountry(meta),
    motivation: motivationOf(meta),
    targetSectors: tagsOf(metaList(meta, 'cfr-target-category'), metaList(meta, 'targeted-sector')),
    targetCountries: countriesOf(meta, 'cfr-suspected-victims', 'suspected-victims'),
  };
}

/** Returns a member of `meta` as a list, whether it is one or a single value. */
export function metaList(meta: Fields, name: string): unknown[] {
  const value = field(meta, name);
  return Array.isArray(value) ? value : [value];
}

/**
 * Returns who coined which name: `origin:NAME` states it in words, `name-attribution` by uuid (`NAME:UUID`).
 */
function namersOf(meta: Fields): Map<string, string> {
  const namers = new Map<string, string>();
  for (const key of Object.keys(meta).filter((name) => name.startsWith(ORIGIN))) {
    const namer = metaList(meta, key)
      .map(textOf)
      .find((text) => text !== null);
    if (namer) namers.set(key.slice(ORIGIN.length), namer);
  }
  for (const entry of tagsOf(metaList(meta, 'name-attribution'))) {
    const colon = entry.lastIndexOf(':');
    const [alias, namer] = [entry.slice(0, colon), NAMER_BY_UUID.get(entry.slice(colon + 1).toLowerCase())];
    if (colon > 0 && namer !== undefined && !namers.has(alias)) namers.set(alias, namer);
  }
  return namers;
}

function statedCountry(meta: Fields): string | null {
  const [sponsor, ...others] = countriesOf(meta, 'cfr-suspected-state-sponsor');
  return countryOf(field(meta, 'country')) ?? (others.length === 0 ? (sponsor ?? null) : null);
}

/** Leaves out the names of regions, alliances and companies, which are listed among the victims. */
function countriesOf(meta: Fields, ...names: string[]): string[] {
  const stated = tagsOf(...names.map((name) => metaList(meta, name)));
  return [...new Set(stated.flatMap((name) => countryCodeOf(name) ?? []))];
}

/** Returns a motivation only if all recognized words imply the same one. */
function motivationOf(meta: Fields): Motivation | null {
  const stated = tagsOf(metaList(meta, 'cfr-type-of-incident'), metaList(meta, 'motive'));
  const known = new Set(stated.flatMap((word) => MOTIVATION_BY_WORD.get(word.toLowerCase()) ?? []));
  const [only] = known;
  return known.size === 1 && only !== undefined ? only : null;
}
