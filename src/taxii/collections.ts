import type { Db } from '../db/database.ts';
import type { ExtentChange } from '../db/revision/change-dates.ts';
import type { Principal } from '../db/visibility.ts';
import type { ContextKind } from '../exports/export-context.queries.ts';
import { collectionOf, exportProblem, readerOf } from '../feeds/feed.ts';
import { type FollowedFeed, findFeeds, listFeeds } from '../feeds/feeds.queries.ts';
import { tlpName } from '../formats/format.ts';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import type { Scope } from '../model/account.ts';
import { uuidv5 } from '../model/identity.ts';
import { compareTlp } from '../model/statement.ts';
import { TLPS } from '../model/vocabulary.ts';

/** A collection of TAXII 2.1 (§5), with the objects that it has for a reader. */
export interface Collection {
  id: string;
  /** May stand for the id in URLs. */
  alias: string;
  title: string;
  description: string;
  principal: Principal;
  /** Of its indicators. */
  filters: IndicatorFilters;
  /** The objects that it has besides indicators. */
  entityKinds: readonly ContextKind[];
  /** The last change of its filters or ceiling; null: there was none. */
  extentChange: ExtentChange | null;
  /** Filters that it had before. */
  formerFilters: IndicatorFilters[];
}

/** A key, as far as it decides which collections it can read. */
export interface Reader {
  principal: Principal;
  /** The ids of the feeds to which the key is bound; empty: to none. */
  boundFeeds: readonly string[];
  /** Empty: all. */
  scopes: readonly Scope[];
}

/** Must never change: the ids of collections derive from it. */
const NAMESPACE = '0c0f2f7e-5f0e-4c0b-9a35-5f6e3f6c3b55';

/** Returns a UUID in the form of version 4, which the standard prescribes (§2): the bits of a hash stand for random ones. */
const asVersion4 = (uuid: string) => `${uuid.slice(0, 14)}4${uuid.slice(15)}`;

/** Returns the collections that a key can read. */
export async function listCollections(db: Db, reader: Reader): Promise<Collection[]> {
  const { principal, boundFeeds, scopes } = reader;
  if (boundFeeds.length > 0) return (await findFeeds(db, boundFeeds)).map((feed) => ofFeed(feed, principal));
  const may = (scope: Scope) => scopes.length === 0 || scopes.includes(scope);
  const feeds = may('feeds:read') ? await listFeeds(db, principal.tlpCeiling) : [];
  const entityKinds = kindsFor(may);
  return [
    ...(may('indicators:read') ? [everything(principal), ...byTlp(principal)] : []).map((collection) => ({
      ...collection,
      entityKinds,
    })),
    ...feeds.map((feed) => ofFeed(feed, principal)),
  ];
}

/** Techniques and software are read with actors and with campaigns; no scope is theirs alone. */
function kindsFor(may: (scope: Scope) => boolean): ContextKind[] {
  const [actors, campaigns] = [may('actors:read'), may('campaigns:read')];
  return [
    ...(actors ? (['actor'] as const) : []),
    ...(campaigns ? (['campaign'] as const) : []),
    ...(actors || campaigns ? (['technique', 'software'] as const) : []),
  ];
}

const WITH_CONTEXT = ', with actors, campaigns, techniques, software and their relationships';

/** Clients find collections by their titles, so that these stay. */
const everything = (principal: Principal): Omit<Collection, 'entityKinds'> => ({
  id: asVersion4(uuidv5('all', NAMESPACE)),
  alias: 'all',
  title: 'All indicators',
  description: `All indicators that the key can read${WITH_CONTEXT}.`,
  principal,
  filters: {},
  extentChange: null,
  formerFilters: [],
});

const byTlp = (principal: Principal): Omit<Collection, 'entityKinds'>[] =>
  TLPS.filter((tlp) => compareTlp(tlp, principal.tlpCeiling) <= 0).map((tlp) => ({
    id: asVersion4(uuidv5(`tlp ${tlp}`, NAMESPACE)),
    alias: `tlp-${tlp.toLowerCase().replace('_', '-')}`,
    title: `Up to TLP:${tlpName(tlp)}`,
    description: `All indicators up to TLP:${tlpName(tlp)}${WITH_CONTEXT}.`,
    principal: { ...principal, tlpCeiling: tlp },
    filters: {},
    extentChange: null,
    formerFilters: [],
  }));

function ofFeed(feed: FollowedFeed, reader: Principal): Collection {
  const { filters, collection } = collectionOf(feed);
  const { limit } = collection;
  const beyond = limit && `Beyond the limit of ${limit.count} that the feed has elsewhere, too.`;
  return {
    id: asVersion4(collection.id),
    alias: `feed-${feed.slug}`,
    title: feed.name,
    description: [feed.description, beyond].filter(Boolean).join(' '),
    principal: readerOf(feed, reader),
    filters,
    // A feed is a list of indicators: its filters select nothing else, and a key that is bound to it can read nothing else.
    entityKinds: [],
    extentChange: feed.extentChange,
    formerFilters: feed.former
      .map((former) => ({ ...feed, ...former }))
      .filter((former) => exportProblem(former) === null)
      .map((former) => collectionOf(former).filters),
  };
}
