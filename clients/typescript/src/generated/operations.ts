// Written by scripts/clients.mjs from openapi/openapi.json: npm run openapi.

import type { Download } from '../download.js';
import { follow, items } from '../iterate.js';
import { type CallOptions, type DownloadOptions, segment, type Transport } from '../transport.js';
import type {
  Actor,
  ActorChanges,
  ActorItem,
  ActorList,
  Campaign,
  CampaignChanges,
  CampaignItem,
  CampaignList,
  ExportFormat,
  ExportIndicatorsQuery,
  FeedGroup,
  FeedList,
  GetActorSigmaQueriesQuery,
  GetActorSigmaQuery,
  GetCampaignSigmaQueriesQuery,
  GetCampaignSigmaQuery,
  GetHealthQuery,
  GetSigmaNavigatorLayerQuery,
  GetTaxiiObjectQuery,
  Health,
  Indicator,
  IndicatorChanges,
  IndicatorContext,
  IndicatorItem,
  IndicatorList,
  ListActorCampaignsQuery,
  ListActorChangesQuery,
  ListActorIndicatorsQuery,
  ListActorReportsQuery,
  ListActorTechniquesQuery,
  ListActorsQuery,
  ListCampaignActorsQuery,
  ListCampaignChangesQuery,
  ListCampaignIndicatorsQuery,
  ListCampaignReportsQuery,
  ListCampaignTechniquesQuery,
  ListCampaignsQuery,
  ListFeedChangesQuery,
  ListIndicatorChangesQuery,
  ListIndicatorsQuery,
  ListTaxiiManifestQuery,
  ListTaxiiObjectsQuery,
  ListTaxiiVersionsQuery,
  LookUpManyValuesQuery,
  LookUpValuesQuery,
  LookupResults,
  MispEvent,
  MispManifest,
  NavigatorLayer,
  ReadFeedQuery,
  Report,
  ReportList,
  SigmaRuleQueries,
  TaxiiApiRoot,
  TaxiiCollection,
  TaxiiCollections,
  TaxiiDiscovery,
  TaxiiEnvelope,
  TaxiiManifest,
  TaxiiVersions,
  Technique,
  TechniqueList,
} from './types.js';

/** The version of the API that this client was written for. */
export const VERSION = "0.1.0";

/** A method for each operation of the API, named by its `operationId`. */
export abstract class Operations {
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /**
   * Read the state of the service.
   * With deep=1 the database and the key-value store are asked too.
   *
   * `GET /api/health`
   */
  getHealth(query: GetHealthQuery = {}, options: CallOptions = {}): Promise<Health> {
    return this.transport.json({ path: '/api/health', query: { ...query }, statuses: [503], isPublic: true }, options);
  }

  /**
   * Read whether this node can answer.
   * For load balancers: 200 while the database answers and the node is not about to stop. The key-value store
   * does not count: requests go on without it.
   *
   * `GET /api/health/ready`
   */
  getReadiness(options: CallOptions = {}): Promise<Health> {
    return this.transport.json({ path: '/api/health/ready', statuses: [503], isPublic: true }, options);
  }

  /**
   * List indicators.
   * Newest sighting first. All filters combine with AND. Whitelisted and expired indicators are never
   * returned. With a format other than json this is GET /api/v1/exports/{format}: the same answer, HTTP Basic
   * included.
   *
   * `GET /api/v1/indicators`
   */
  listIndicators(query: ListIndicatorsQuery = {}, options: CallOptions = {}): Promise<IndicatorList> {
    return this.transport.json({ path: '/api/v1/indicators', query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listIndicators}, of `pageSize` or 500 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateIndicators(query: Omit<ListIndicatorsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Indicator, void, undefined> {
    return items((page) => this.listIndicators({ pageSize: 500, ...query, page }, options));
  }

  /**
   * List the indicators of an actor.
   * The same pages as the list of indicators has with the filter, but 404 when the actor does not exist or is
   * above the ceiling of the key.
   *
   * `GET /api/v1/actors/{id}/indicators`
   * @param id The id, a UUID.
   */
  listActorIndicators(id: string, query: ListActorIndicatorsQuery = {}, options: CallOptions = {}): Promise<IndicatorList> {
    return this.transport.json({ path: `/api/v1/actors/${segment(id)}/indicators`, query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listActorIndicators}, of `pageSize` or 500 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateActorIndicators(id: string, query: Omit<ListActorIndicatorsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Indicator, void, undefined> {
    return items((page) => this.listActorIndicators(id, { pageSize: 500, ...query, page }, options));
  }

  /**
   * List the indicators of a campaign.
   * The same pages as the list of indicators has with the filter, but 404 when the campaign does not exist or
   * is above the ceiling of the key.
   *
   * `GET /api/v1/campaigns/{id}/indicators`
   * @param id The id, a UUID.
   */
  listCampaignIndicators(id: string, query: ListCampaignIndicatorsQuery = {}, options: CallOptions = {}): Promise<IndicatorList> {
    return this.transport.json({ path: `/api/v1/campaigns/${segment(id)}/indicators`, query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listCampaignIndicators}, of `pageSize` or 500 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateCampaignIndicators(id: string, query: Omit<ListCampaignIndicatorsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Indicator, void, undefined> {
    return items((page) => this.listCampaignIndicators(id, { pageSize: 500, ...query, page }, options));
  }

  /**
   * Read one indicator.
   * 404 when there is none, or it is whitelisted, expired or above the ceiling of the key.
   *
   * `GET /api/v1/indicators/{id}`
   * @param id The id, a UUID.
   */
  getIndicator(id: string, options: CallOptions = {}): Promise<IndicatorItem> {
    return this.transport.json({ path: `/api/v1/indicators/${segment(id)}` }, options);
  }

  /**
   * Read all that is known about one indicator.
   * For playbooks: enrichments with the providers’ raw answers, actors, campaigns, reports, verdict.
   *
   * `GET /api/v1/indicators/{id}/context`
   * @param id The id, a UUID.
   */
  getIndicatorContext(id: string, options: CallOptions = {}): Promise<IndicatorContext> {
    return this.transport.json({ path: `/api/v1/indicators/${segment(id)}/context` }, options);
  }

  /**
   * Export indicators.
   * Every indicator that matches, or, where page or pageSize is given, that page of the list. The format
   * decides the media type, whatever Accept says. An Accept-Encoding of zstd or gzip is served, and so is a
   * Range of a finished export. With HTTP Basic the key is the password.
   *
   * `GET /api/v1/exports/{format}`
   * @param format The format.
   */
  exportIndicators(format: ExportFormat, query: ExportIndicatorsQuery = {}, options: DownloadOptions = {}): Promise<Download> {
    return this.transport.download({ path: `/api/v1/exports/${segment(format)}`, query: { ...query } }, options);
  }

  /**
   * Follow the changes of a list.
   * Keeps a copy of a list in step. Without a cursor it begins with everything that matches, in pages; with
   * the cursor of a response, or X-Change-Cursor of a list or export, it goes on from there. An upsert
   * replaces an indicator by its id, a remove deletes it. 409: the cursor belongs to a key of another TLP
   * ceiling. 410: the cursor is too old, or the store is another one; begin without a cursor and replace the
   * copy.
   *
   * `GET /api/v1/indicators/changes`
   */
  listIndicatorChanges(query: ListIndicatorChangesQuery = {}, options: CallOptions = {}): Promise<IndicatorChanges> {
    return this.transport.json({ path: '/api/v1/indicators/changes', query: { ...query } }, options);
  }

  /**
   * Yields the responses of {@link listIndicatorChanges}: first all pages, then changes as they come. Store
   * the `cursor` of each together with its changes, and begin with `cursor` after a restart. While `hasMore`
   * is true, the copy is not complete.
   * With `wait: 0` it ends when the copy is complete; otherwise it waits for changes, `wait` seconds (30) a
   * request.
   * @throws {TiplineError} with the status 400, 409 or 410 when the cursor cannot be used: begin without one,
   * and replace the copy
   */
  followIndicatorChanges(query: ListIndicatorChangesQuery = {}, options: CallOptions = {}): AsyncGenerator<IndicatorChanges, void, undefined> {
    return follow(this.transport, query, options, (from) => this.listIndicatorChanges({ ...query, ...from }, options));
  }

  /**
   * Look up values.
   * What is known about each of up to 100 values, and about the domains above it, the host and the folders of
   * a URL, and the domain of an e-mail address. A value that is not known is no error. A URL may have 32,768
   * characters here; keep it below 7,000 where a proxy is in between. QUERY /bulk/lookup takes 10,000 values.
   *
   * `GET /api/v1/lookup`
   */
  lookUpValues(query: LookUpValuesQuery, options: CallOptions = {}): Promise<LookupResults> {
    return this.transport.json({ path: '/api/v1/lookup', query: { ...query } }, options);
  }

  /**
   * Look up many values.
   * The same for up to 10,000 values in a body of up to 2 MiB, sent with the HTTP method QUERY: as JSON, as a
   * value a line, or as a text whose observables are found (extract=true). A request counts once against the
   * rate limit. A client behind a proxy that rejects QUERY (405 or 501) uses GET /api/v1/lookup.
   *
   * `QUERY /bulk/lookup`
   */
  lookUpManyValues(body: { /** The values, plain or defanged. */ values: string[]; } | string, query: LookUpManyValuesQuery = {}, options: CallOptions = {}): Promise<LookupResults> {
    return this.transport.json({ method: 'QUERY', path: '/bulk/lookup', query: { ...query }, body }, options);
  }

  /**
   * List saved feeds.
   * The saved feeds up to the TLP ceiling of the key; for a key that is bound to feeds, these.
   *
   * `GET /api/v1/feeds`
   */
  listFeeds(options: CallOptions = {}): Promise<FeedList> {
    return this.transport.json({ path: '/api/v1/feeds' }, options);
  }

  /**
   * Read a saved feed.
   * The export that the feed is, up to the lower one of its TLP ceiling and that of the key. With HTTP Basic
   * the key is the password.
   *
   * `GET /api/v1/feeds/{slug}`
   * @param slug The slug of the feed.
   */
  readFeed(slug: string, query: ReadFeedQuery = {}, options: DownloadOptions = {}): Promise<Download> {
    return this.transport.download({ path: `/api/v1/feeds/${segment(slug)}`, query: { ...query } }, options);
  }

  /**
   * Read the techniques behind a saved feed as an ATT&CK Navigator layer.
   * A layer of the format 4.5 with the Enterprise techniques of the actors and campaigns that are linked to
   * the indicators of the feed, in the format of the feed. The score of a technique is how many of these use
   * it; the comment names them. A session of the application does in place of a key.
   *
   * `GET /api/v1/feeds/{slug}/navigator`
   * @param slug The slug of the feed.
   */
  getFeedNavigatorLayer(slug: string, options: CallOptions = {}): Promise<NavigatorLayer> {
    return this.transport.json({ path: `/api/v1/feeds/${segment(slug)}/navigator` }, options);
  }

  /**
   * Follow the changes of a saved feed.
   * Keeps a copy of a saved feed in step, as GET /api/v1/indicators/changes does for a list. It has the
   * indicators that the format of the feed can express; with a limit, the first ones. Without a cursor it
   * begins with all of them, in pages; with the cursor of a response, or X-Change-Cursor of the feed, it goes
   * on from there. 409: the cursor belongs to a key of another TLP ceiling. 410: the filters, the limit or
   * the TLP ceiling of the feed have been changed, the cursor is too old, or the store is another one; begin
   * without a cursor and replace the copy.
   *
   * `GET /api/v1/feeds/{slug}/changes`
   * @param slug The slug of the feed.
   */
  listFeedChanges(slug: string, query: ListFeedChangesQuery = {}, options: CallOptions = {}): Promise<IndicatorChanges> {
    return this.transport.json({ path: `/api/v1/feeds/${segment(slug)}/changes`, query: { ...query } }, options);
  }

  /**
   * Yields the responses of {@link listFeedChanges}: first all pages, then changes as they come. Store the
   * `cursor` of each together with its changes, and begin with `cursor` after a restart. While `hasMore` is
   * true, the copy is not complete.
   * With `wait: 0` it ends when the copy is complete; otherwise it waits for changes, `wait` seconds (30) a
   * request.
   * @throws {TiplineError} with the status 400, 409 or 410 when the cursor cannot be used: begin without one,
   * and replace the copy
   */
  followFeedChanges(slug: string, query: ListFeedChangesQuery = {}, options: CallOptions = {}): AsyncGenerator<IndicatorChanges, void, undefined> {
    return follow(this.transport, query, options, (from) => this.listFeedChanges(slug, { ...query, ...from }, options));
  }

  /**
   * Find the API root.
   *
   * `GET /taxii2/`
   */
  getTaxiiDiscovery(options: CallOptions = {}): Promise<TaxiiDiscovery> {
    return this.transport.json({ path: '/taxii2/', accept: 'application/taxii+json;version=2.1' }, options);
  }

  /**
   * Get the API root.
   *
   * `GET /taxii2/root/`
   */
  getTaxiiApiRoot(options: CallOptions = {}): Promise<TaxiiApiRoot> {
    return this.transport.json({ path: '/taxii2/root/', accept: 'application/taxii+json;version=2.1' }, options);
  }

  /**
   * List the collections.
   * All indicators and those up to each TLP, with the actors, campaigns and relationships for which the key
   * has scopes, and each saved feed: those that the scopes and the TLP ceiling of the key allow.
   *
   * `GET /taxii2/root/collections/`
   */
  listTaxiiCollections(options: CallOptions = {}): Promise<TaxiiCollections> {
    return this.transport.json({ path: '/taxii2/root/collections/', accept: 'application/taxii+json;version=2.1' }, options);
  }

  /**
   * Get a collection.
   *
   * `GET /taxii2/root/collections/{collection}/`
   * @param collection The id of the collection, or its alias.
   */
  getTaxiiCollection(collection: string, options: CallOptions = {}): Promise<TaxiiCollection> {
    return this.transport.json({ path: `/taxii2/root/collections/${segment(collection)}/`, accept: 'application/taxii+json;version=2.1' }, options);
  }

  /**
   * Get the objects of a collection.
   * The oldest first. X-TAXII-Date-Added-Last is the `added_after` of the next request; `next` goes on within
   * one. Objects that were whitelisted, restricted or deleted since come with their end, if the client may
   * have them.
   *
   * `GET /taxii2/root/collections/{collection}/objects/`
   * @param collection The id of the collection, or its alias.
   */
  listTaxiiObjects(collection: string, query: ListTaxiiObjectsQuery = {}, options: CallOptions = {}): Promise<TaxiiEnvelope> {
    return this.transport.json({ path: `/taxii2/root/collections/${segment(collection)}/objects/`, query: { ...query }, accept: 'application/taxii+json;version=2.1' }, options);
  }

  /**
   * Get the manifest of a collection.
   *
   * `GET /taxii2/root/collections/{collection}/manifest/`
   * @param collection The id of the collection, or its alias.
   */
  listTaxiiManifest(collection: string, query: ListTaxiiManifestQuery = {}, options: CallOptions = {}): Promise<TaxiiManifest> {
    return this.transport.json({ path: `/taxii2/root/collections/${segment(collection)}/manifest/`, query: { ...query }, accept: 'application/taxii+json;version=2.1' }, options);
  }

  /**
   * Get an object of a collection.
   *
   * `GET /taxii2/root/collections/{collection}/objects/{object}/`
   * @param collection The id of the collection, or its alias.
   * @param object The STIX id of the object.
   */
  getTaxiiObject(collection: string, object: string, query: GetTaxiiObjectQuery = {}, options: CallOptions = {}): Promise<TaxiiEnvelope> {
    return this.transport.json({ path: `/taxii2/root/collections/${segment(collection)}/objects/${segment(object)}/`, query: { ...query }, accept: 'application/taxii+json;version=2.1' }, options);
  }

  /**
   * Get the versions of an object.
   *
   * `GET /taxii2/root/collections/{collection}/objects/{object}/versions/`
   * @param collection The id of the collection, or its alias.
   * @param object The STIX id of the object.
   */
  listTaxiiVersions(collection: string, object: string, query: ListTaxiiVersionsQuery = {}, options: CallOptions = {}): Promise<TaxiiVersions> {
    return this.transport.json({ path: `/taxii2/root/collections/${segment(collection)}/objects/${segment(object)}/versions/`, query: { ...query }, accept: 'application/taxii+json;version=2.1' }, options);
  }

  /**
   * Read the manifest of the MISP feed.
   * Which events there are, and when each has changed. An event is the indicators of a range of numbers: a
   * change moves one small event.
   *
   * `GET /api/v1/feeds/misp/manifest.json`
   */
  getMispFeedManifest(options: CallOptions = {}): Promise<MispManifest> {
    return this.transport.json({ path: '/api/v1/feeds/misp/manifest.json' }, options);
  }

  /**
   * Read the hashes of the MISP feed.
   * MD5 of each value and the uuid of its event: what MISP looks its own attributes up in.
   *
   * `GET /api/v1/feeds/misp/hashes.csv`
   */
  getMispFeedHashes(options: DownloadOptions = {}): Promise<Download> {
    return this.transport.download({ path: '/api/v1/feeds/misp/hashes.csv' }, options);
  }

  /**
   * Read an event of the MISP feed.
   * The event is the indicators of a range of numbers: a change moves one small event.
   *
   * `GET /api/v1/feeds/misp/{uuid}.json`
   * @param uuid The uuid, as the manifest has it; each installation has its own.
   */
  getMispFeedEvent(uuid: string, options: CallOptions = {}): Promise<MispEvent> {
    return this.transport.json({ path: `/api/v1/feeds/misp/${segment(uuid)}.json` }, options);
  }

  /**
   * Read the manifest of a MISP feed by group.
   * Which events there are, and when each has changed. An event is a report (its title, date, tags, galaxy
   * clusters, objects and texts, and the indicators that it refers to), a campaign or a part of a source;
   * indicators that are in no report or campaign are in events by ranges of numbers.
   *
   * `GET /api/v1/feeds/misp/by-{group}/manifest.json`
   * @param group The kind of group that an event has.
   */
  getMispFeedManifestByGroup(group: FeedGroup, options: CallOptions = {}): Promise<MispManifest> {
    return this.transport.json({ path: `/api/v1/feeds/misp/by-${segment(group)}/manifest.json` }, options);
  }

  /**
   * Read the hashes of a MISP feed by group.
   * MD5 of each value and the uuid of its event: what MISP looks its own attributes up in.
   *
   * `GET /api/v1/feeds/misp/by-{group}/hashes.csv`
   * @param group The kind of group that an event has.
   */
  getMispFeedHashesByGroup(group: FeedGroup, options: DownloadOptions = {}): Promise<Download> {
    return this.transport.download({ path: `/api/v1/feeds/misp/by-${segment(group)}/hashes.csv` }, options);
  }

  /**
   * Read an event of a MISP feed by group.
   * The event is a report (its title, date, tags, galaxy clusters, objects and texts, and the indicators that
   * it refers to), a campaign or a part of a source; indicators that are in no report or campaign are in
   * events by ranges of numbers.
   *
   * `GET /api/v1/feeds/misp/by-{group}/{uuid}.json`
   * @param group The kind of group that an event has.
   * @param uuid The uuid, as the manifest has it; each installation has its own.
   */
  getMispFeedEventByGroup(group: FeedGroup, uuid: string, options: CallOptions = {}): Promise<MispEvent> {
    return this.transport.json({ path: `/api/v1/feeds/misp/by-${segment(group)}/${segment(uuid)}.json` }, options);
  }

  /**
   * Read the techniques that Sigma rules cover as an ATT&CK Navigator layer.
   * A layer of the format 4.5 with the techniques for which there are rules, those of Tipline and those of
   * the community that the operator added. The score of a technique is how many rules there are; the comment
   * says whose. A session of the application does in place of a key.
   *
   * `GET /api/sigma/navigator`
   */
  getSigmaNavigatorLayer(query: GetSigmaNavigatorLayerQuery = {}, options: CallOptions = {}): Promise<NavigatorLayer> {
    return this.transport.json({ path: '/api/sigma/navigator', query: { ...query } }, options);
  }

  /**
   * Read detection rules for an actor.
   * A bundle in YAML, a document a rule: network, file hash and host artifact rules for its indicators, and
   * rules for its techniques. Only a comment if there are no rules. A session of the application does in
   * place of a key.
   *
   * `GET /api/sigma/actor/{id}`
   * @param id The id, a UUID.
   */
  getActorSigma(id: string, query: GetActorSigmaQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ path: `/api/sigma/actor/${segment(id)}`, query: { ...query }, accept: 'application/yaml' }, options);
  }

  /**
   * Read the detection rules for an actor as queries.
   * The rules of the bundle in the language of a product, with the names of its tables and fields. A rule
   * that the language cannot express is left out and listed with the reason. A session of the application
   * does in place of a key.
   *
   * `GET /api/sigma/actor/{id}/queries`
   * @param id The id, a UUID.
   */
  getActorSigmaQueries(id: string, query: GetActorSigmaQueriesQuery, options: CallOptions = {}): Promise<SigmaRuleQueries> {
    return this.transport.json({ path: `/api/sigma/actor/${segment(id)}/queries`, query: { ...query } }, options);
  }

  /**
   * Read detection rules for a campaign.
   * A bundle in YAML, a document a rule: network, file hash and host artifact rules for its indicators, and
   * rules for its techniques. Only a comment if there are no rules. A session of the application does in
   * place of a key.
   *
   * `GET /api/sigma/campaign/{id}`
   * @param id The id, a UUID.
   */
  getCampaignSigma(id: string, query: GetCampaignSigmaQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ path: `/api/sigma/campaign/${segment(id)}`, query: { ...query }, accept: 'application/yaml' }, options);
  }

  /**
   * Read the detection rules for a campaign as queries.
   * The rules of the bundle in the language of a product, with the names of its tables and fields. A rule
   * that the language cannot express is left out and listed with the reason. A session of the application
   * does in place of a key.
   *
   * `GET /api/sigma/campaign/{id}/queries`
   * @param id The id, a UUID.
   */
  getCampaignSigmaQueries(id: string, query: GetCampaignSigmaQueriesQuery, options: CallOptions = {}): Promise<SigmaRuleQueries> {
    return this.transport.json({ path: `/api/sigma/campaign/${segment(id)}/queries`, query: { ...query } }, options);
  }

  /**
   * Follow the changes of the actors.
   * Like the changes of indicators, but all at once: there are few actors. An upsert is sent when the actor
   * itself changes; the list and the detail have the current state of what is linked to it.
   *
   * `GET /api/v1/actors/changes`
   */
  listActorChanges(query: ListActorChangesQuery = {}, options: CallOptions = {}): Promise<ActorChanges> {
    return this.transport.json({ path: '/api/v1/actors/changes', query: { ...query } }, options);
  }

  /**
   * Yields the responses of {@link listActorChanges}: first all pages, then changes as they come. Store the
   * `cursor` of each together with its changes, and begin with `cursor` after a restart. While `hasMore` is
   * true, the copy is not complete.
   * With `wait: 0` it ends when the copy is complete; otherwise it waits for changes, `wait` seconds (30) a
   * request.
   * @throws {TiplineError} with the status 400, 409 or 410 when the cursor cannot be used: begin without one,
   * and replace the copy
   */
  followActorChanges(query: ListActorChangesQuery = {}, options: CallOptions = {}): AsyncGenerator<ActorChanges, void, undefined> {
    return follow(this.transport, query, options, (from) => this.listActorChanges({ ...query, ...from }, options));
  }

  /**
   * List threat actors.
   * Sorted by name.
   *
   * `GET /api/v1/actors`
   */
  listActors(query: ListActorsQuery = {}, options: CallOptions = {}): Promise<ActorList> {
    return this.transport.json({ path: '/api/v1/actors', query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listActors}, of `pageSize` or 200 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateActors(query: Omit<ListActorsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Actor, void, undefined> {
    return items((page) => this.listActors({ pageSize: 200, ...query, page }, options));
  }

  /**
   * Read one threat actor.
   * With techniques, malware and tools.
   *
   * `GET /api/v1/actors/{id}`
   * @param id The id, a UUID.
   */
  getActor(id: string, options: CallOptions = {}): Promise<ActorItem> {
    return this.transport.json({ path: `/api/v1/actors/${segment(id)}` }, options);
  }

  /**
   * Follow the changes of the campaigns.
   * Like the changes of indicators, but all at once: there are few campaigns. An upsert is sent when the
   * campaign itself changes; the list and the detail have the current state of what is linked to it.
   *
   * `GET /api/v1/campaigns/changes`
   */
  listCampaignChanges(query: ListCampaignChangesQuery = {}, options: CallOptions = {}): Promise<CampaignChanges> {
    return this.transport.json({ path: '/api/v1/campaigns/changes', query: { ...query } }, options);
  }

  /**
   * Yields the responses of {@link listCampaignChanges}: first all pages, then changes as they come. Store
   * the `cursor` of each together with its changes, and begin with `cursor` after a restart. While `hasMore`
   * is true, the copy is not complete.
   * With `wait: 0` it ends when the copy is complete; otherwise it waits for changes, `wait` seconds (30) a
   * request.
   * @throws {TiplineError} with the status 400, 409 or 410 when the cursor cannot be used: begin without one,
   * and replace the copy
   */
  followCampaignChanges(query: ListCampaignChangesQuery = {}, options: CallOptions = {}): AsyncGenerator<CampaignChanges, void, undefined> {
    return follow(this.transport, query, options, (from) => this.listCampaignChanges({ ...query, ...from }, options));
  }

  /**
   * List campaigns.
   * Latest start first, unknown starts last.
   *
   * `GET /api/v1/campaigns`
   */
  listCampaigns(query: ListCampaignsQuery = {}, options: CallOptions = {}): Promise<CampaignList> {
    return this.transport.json({ path: '/api/v1/campaigns', query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listCampaigns}, of `pageSize` or 200 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateCampaigns(query: Omit<ListCampaignsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Campaign, void, undefined> {
    return items((page) => this.listCampaigns({ pageSize: 200, ...query, page }, options));
  }

  /**
   * Read one campaign.
   * 404 when there is none, or it is above the ceiling of the key.
   *
   * `GET /api/v1/campaigns/{id}`
   * @param id The id, a UUID.
   */
  getCampaign(id: string, options: CallOptions = {}): Promise<CampaignItem> {
    return this.transport.json({ path: `/api/v1/campaigns/${segment(id)}` }, options);
  }

  /**
   * List the campaigns of an actor.
   * The campaigns that are attributed to it, sorted and filtered like the list of campaigns.
   *
   * `GET /api/v1/actors/{id}/campaigns`
   * @param id The id, a UUID.
   */
  listActorCampaigns(id: string, query: ListActorCampaignsQuery = {}, options: CallOptions = {}): Promise<CampaignList> {
    return this.transport.json({ path: `/api/v1/actors/${segment(id)}/campaigns`, query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listActorCampaigns}, of `pageSize` or 200 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateActorCampaigns(id: string, query: Omit<ListActorCampaignsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Campaign, void, undefined> {
    return items((page) => this.listActorCampaigns(id, { pageSize: 200, ...query, page }, options));
  }

  /**
   * List the actors of a campaign.
   * The actors to which it is attributed, sorted and filtered like the list of actors.
   *
   * `GET /api/v1/campaigns/{id}/actors`
   * @param id The id, a UUID.
   */
  listCampaignActors(id: string, query: ListCampaignActorsQuery = {}, options: CallOptions = {}): Promise<ActorList> {
    return this.transport.json({ path: `/api/v1/campaigns/${segment(id)}/actors`, query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listCampaignActors}, of `pageSize` or 200 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateCampaignActors(id: string, query: Omit<ListCampaignActorsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Actor, void, undefined> {
    return items((page) => this.listCampaignActors(id, { pageSize: 200, ...query, page }, options));
  }

  /**
   * List the reports of an actor.
   * Reports that refer to it, the latest first; those without a date last.
   *
   * `GET /api/v1/actors/{id}/reports`
   * @param id The id, a UUID.
   */
  listActorReports(id: string, query: ListActorReportsQuery = {}, options: CallOptions = {}): Promise<ReportList> {
    return this.transport.json({ path: `/api/v1/actors/${segment(id)}/reports`, query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listActorReports}, of `pageSize` or 200 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateActorReports(id: string, query: Omit<ListActorReportsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Report, void, undefined> {
    return items((page) => this.listActorReports(id, { pageSize: 200, ...query, page }, options));
  }

  /**
   * List the techniques of an actor.
   * The techniques that it uses, by ATT&CK id.
   *
   * `GET /api/v1/actors/{id}/techniques`
   * @param id The id, a UUID.
   */
  listActorTechniques(id: string, query: ListActorTechniquesQuery = {}, options: CallOptions = {}): Promise<TechniqueList> {
    return this.transport.json({ path: `/api/v1/actors/${segment(id)}/techniques`, query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listActorTechniques}, of `pageSize` or 200 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateActorTechniques(id: string, query: Omit<ListActorTechniquesQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Technique, void, undefined> {
    return items((page) => this.listActorTechniques(id, { pageSize: 200, ...query, page }, options));
  }

  /**
   * List the reports of a campaign.
   * Reports that refer to it, the latest first; those without a date last.
   *
   * `GET /api/v1/campaigns/{id}/reports`
   * @param id The id, a UUID.
   */
  listCampaignReports(id: string, query: ListCampaignReportsQuery = {}, options: CallOptions = {}): Promise<ReportList> {
    return this.transport.json({ path: `/api/v1/campaigns/${segment(id)}/reports`, query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listCampaignReports}, of `pageSize` or 200 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateCampaignReports(id: string, query: Omit<ListCampaignReportsQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Report, void, undefined> {
    return items((page) => this.listCampaignReports(id, { pageSize: 200, ...query, page }, options));
  }

  /**
   * List the techniques of a campaign.
   * The techniques that it uses, by ATT&CK id.
   *
   * `GET /api/v1/campaigns/{id}/techniques`
   * @param id The id, a UUID.
   */
  listCampaignTechniques(id: string, query: ListCampaignTechniquesQuery = {}, options: CallOptions = {}): Promise<TechniqueList> {
    return this.transport.json({ path: `/api/v1/campaigns/${segment(id)}/techniques`, query: { ...query } }, options);
  }

  /**
   * Yields the items of all pages of {@link listCampaignTechniques}, of `pageSize` or 200 each.
   * While data changes, an item may be on two pages or on none: an export or the change feed is exact.
   */
  iterateCampaignTechniques(id: string, query: Omit<ListCampaignTechniquesQuery, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Technique, void, undefined> {
    return items((page) => this.listCampaignTechniques(id, { pageSize: 200, ...query, page }, options));
  }

  /**
   * Read the techniques of an actor as an ATT&CK Navigator layer.
   * A layer of the format 4.5 with the Enterprise techniques of the details. Techniques without an ATT&CK id
   * and those of industrial control systems are left out. A session of the application does in place of a
   * key.
   *
   * `GET /api/v1/actors/{id}/navigator`
   * @param id The id, a UUID.
   */
  getActorNavigatorLayer(id: string, options: CallOptions = {}): Promise<NavigatorLayer> {
    return this.transport.json({ path: `/api/v1/actors/${segment(id)}/navigator` }, options);
  }

  /**
   * Read the techniques of a campaign as an ATT&CK Navigator layer.
   * A layer of the format 4.5 with the Enterprise techniques of the details. Techniques without an ATT&CK id
   * and those of industrial control systems are left out. A session of the application does in place of a
   * key.
   *
   * `GET /api/v1/campaigns/{id}/navigator`
   * @param id The id, a UUID.
   */
  getCampaignNavigatorLayer(id: string, options: CallOptions = {}): Promise<NavigatorLayer> {
    return this.transport.json({ path: `/api/v1/campaigns/${segment(id)}/navigator` }, options);
  }
}
