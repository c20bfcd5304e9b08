import type { Tlp } from '../model/vocabulary.ts';
import { galaxyActorFields, metaList } from './galaxy-actor.ts';
import type {
  ActorRecord,
  CampaignRecord,
  ImportRecord,
  SoftwareRecord,
  TechniqueRecord,
} from './importer.ts';
import { mispTags } from './misp-fields.ts';
import {
  type Fields,
  field,
  isObject,
  listOf,
  otherNames,
  relationshipRecord,
  tagsOf,
  textOf,
} from './record-fields.ts';

export type ClusterRecord = ActorRecord | CampaignRecord | SoftwareRecord | TechniqueRecord;

interface Cluster {
  galaxy: string;
  name: string;
  /** The ATT&CK id after the name, as in `PowerShell - T1086`. */
  attackId: string | null;
  uuid: string | null;
  tagName: string;
  description: string | null;
  meta: Fields;
}

/** Longer texts are not names. */
export const MAX_NAME = 200;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Old MISP exports give every cluster of the galaxy `threat-actor` the uuid of the collection. */
const COLLECTION_UUIDS = new Set(['7cdff317-a673-4474-84ec-4f1754947823']);

const ACTOR_GALAXY = /^(threat-actor|microsoft-activity-group|mitre-([a-z]+-attack-)?intrusion-set)$/;
const CAMPAIGN_GALAXY = /^mitre-campaign$/;
const TECHNIQUE_GALAXY = /^mitre-([a-z]+-attack-)?attack-pattern$/;
const MALWARE_GALAXY =
  /^(malpedia|ransomware|rat|banker|stealer|backdoor|botnet|cryptominers|android|mitre-([a-z]+-attack-)?malware)$/;
const TOOL_GALAXY = /^(tool|mitre-([a-z]+-attack-)?tool)$/;

/**
 * Returns the actors, campaigns, techniques and software that an event or attribute is about: from its
 * galaxies, and from galaxy tags without a galaxy entry. Other galaxies (sectors, countries, …) are only
 * tags.
 */
export function clusterRecords(holder: Fields, tlp: Tlp | null, statedAt: Date | null): ClusterRecord[] {
  const clusters = new Map<string, Cluster>();
  for (const galaxy of (listOf(field(holder, 'Galaxy')) ?? []).filter(isObject)) {
    for (const item of (listOf(field(galaxy, 'GalaxyCluster')) ?? []).filter(isObject)) {
      const cluster = readCluster(item, galaxy);
      if (cluster !== null) clusters.set(cluster.tagName, cluster);
    }
  }
  for (const tag of mispTags(holder).galaxy) {
    const cluster = readGalaxyTag(tag);
    if (cluster !== null && !clusters.has(cluster.tagName)) clusters.set(cluster.tagName, cluster);
  }
  return [...clusters.values()].flatMap((cluster) => toRecord(cluster, tlp, statedAt) ?? []);
}

/** Returns the record of a galaxy tag alone; null if it is of none of these kinds. */
function clusterOfTag(tag: string): ClusterRecord | null {
  const cluster = readGalaxyTag(tag);
  return cluster === null ? null : toRecord(cluster, null, null);
}

/**
 * Returns the record of a cluster, on its own or in a galaxy; null if it is of none of these kinds, or has no
 * usable name.
 */
export function clusterRecord(item: Fields, galaxy: Fields): ClusterRecord | null {
  const cluster = readCluster(item, galaxy);
  return cluster === null ? null : toRecord(cluster, null, null);
}

/** Whether clusters of a galaxy of this type become records. */
export function isReadGalaxy(type: string): boolean {
  return [ACTOR_GALAXY, CAMPAIGN_GALAXY, TECHNIQUE_GALAXY, MALWARE_GALAXY, TOOL_GALAXY].some((form) =>
    form.test(type),
  );
}

function readCluster(item: Fields, parent: Fields): Cluster | null {
  const galaxy = textOf(field(item, 'type')) ?? textOf(field(parent, 'type'));
  const value = textOf(field(item, 'value'));
  if (galaxy === null || value === null || value.length > MAX_NAME) return null;
  const uuid = textOf(field(item, 'uuid'))?.toLowerCase() ?? '';
  const meta = field(item, 'meta');
  const isOwn = UUID.test(uuid) && !COLLECTION_UUIDS.has(uuid) && uuid !== field(item, 'collection_uuid');
  return {
    galaxy,
    ...splitName(value),
    uuid: isOwn ? uuid : null,
    tagName: textOf(field(item, 'tag_name')) ?? `misp-galaxy:${galaxy}="${value}"`,
    description: textOf(field(item, 'description')),
    meta: isObject(meta) ? meta : {},
  };
}

function readGalaxyTag(tag: string): Cluster | null {
  const [, galaxy, value] = /^misp-galaxy:([^=]+)="(.+)"$/i.exec(tag) ?? [];
  if (galaxy === undefined || value === undefined || value.length > MAX_NAME) return null;
  return { galaxy, ...splitName(value), uuid: null, tagName: tag, description: null, meta: {} };
}

/** Splits `APT32 - G0050` into the name and the ATT&CK id. */
function splitName(value: string): { name: string; attackId: string | null } {
  const [, name, attackId] = /^(.*\S) +- +([CGST]\d{4}(?:\.\d{3})?)$/.exec(value) ?? [];
  return name === undefined ? { name: value, attackId: null } : { name, attackId: attackId ?? null };
}

function toRecord(cluster: Cluster, tlp: Tlp | null, statedAt: Date | null): ClusterRecord | null {
  const { galaxy } = cluster;
  const shared = { tlp, statedAt, confidence: null, name: cluster.name, description: cluster.description };
  const synonyms = otherNames(cluster.name, metaList(cluster.meta, 'synonyms'));
  if (ACTOR_GALAXY.test(galaxy)) {
    return {
      kind: 'actor',
      ...shared,
      externalIds: externalIds(cluster, 'intrusion-set', 'threat-actor'),
      ...galaxyActorFields(cluster.name, cluster.meta, attackIdOf(cluster, /^G\d{4}$/)),
      sophistication: null,
      retired: false,
      firstSeen: null,
      lastSeen: null,
    };
  }
  if (CAMPAIGN_GALAXY.test(galaxy))
    return { kind: 'campaign', ...shared, ...campaignFields(cluster, synonyms) };
  if (TECHNIQUE_GALAXY.test(galaxy)) {
    const attackId = attackIdOf(cluster, /^T\d{4}(\.\d{3})?$/);
    const ids = externalIds(cluster, 'attack-pattern');
    return { kind: 'technique', ...shared, externalIds: ids, attackId, tactics: [], retired: false };
  }
  const softwareType = MALWARE_GALAXY.test(galaxy) ? 'malware' : TOOL_GALAXY.test(galaxy) ? 'tool' : null;
  if (softwareType === null) return null;
  return {
    kind: 'software',
    ...shared,
    externalIds: externalIds(cluster, softwareType),
    softwareType,
    attackId: attackIdOf(cluster, /^S\d{4}$/),
    aliases: synonyms,
    retired: false,
  };
}

function campaignFields(cluster: Cluster, aliases: string[]) {
  return {
    externalIds: externalIds(cluster, 'campaign'),
    aliases,
    startDate: null,
    endDate: null,
    targetSectors: [],
    targetCountries: [],
  };
}

/**
 * Cluster uuids are those of the STIX objects that they mirror. The tag links events that carry only the tag.
 */
function externalIds(cluster: Cluster, ...types: string[]): string[] {
  const ofUuid = cluster.uuid === null ? [] : types.map((type) => `${type}--${cluster.uuid}`);
  return tagsOf([...ofUuid, cluster.tagName]);
}

function attackIdOf(cluster: Cluster, form: RegExp): string | null {
  return (
    [cluster.attackId, ...tagsOf(metaList(cluster.meta, 'external_id'))].find((id) => form.test(id ?? '')) ??
    null
  );
}

/** Yields the clusters, each with the link from the report to it. */
export function* withReport(clusters: ClusterRecord[], reportId: string | null): Generator<ImportRecord> {
  for (const cluster of clusters) {
    yield cluster;
    const [id] = cluster.externalIds;
    if (id !== undefined && reportId !== null)
      yield relationshipRecord('refers-to', reportId, id, cluster.tlp);
  }
}

/** Returns the external ids of the clusters that indicators are linked to. */
export function indicatedIds(clusters: ClusterRecord[]): string[] {
  return clusters.filter(isIndicated).flatMap(({ externalIds: [id] }) => id ?? []);
}

/** Returns the galaxy tags that no link represents: they remain tags, or they would be lost. */
export function tagsWithoutLink(galaxyTags: string[]): string[] {
  return galaxyTags.filter((tag) => {
    const cluster = clusterOfTag(tag);
    return cluster === null || !isIndicated(cluster);
  });
}

/**
 * Returns whether indicators are linked to a cluster: an actor, a campaign or malware. Techniques and tools
 * are shared by too many.
 */
function isIndicated(cluster: ClusterRecord): boolean {
  return cluster.kind === 'software' ? cluster.softwareType === 'malware' : cluster.kind !== 'technique';
}
