import { compareTlp, mostRestrictive } from '../../model/statement.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { ExportEntity, ExportIndicator, Indication } from '../format.ts';

export interface MispTag {
  name: string;
  /** MISP assigns a tag without one a colour, the same in every installation. */
  colour?: string;
}

/** Name and colour as MISP's `tlp` taxonomy has them. */
const TLP_TAGS: Record<Tlp, MispTag> = {
  CLEAR: { name: 'tlp:clear', colour: '#ffffff' },
  GREEN: { name: 'tlp:green', colour: '#33FF00' },
  AMBER: { name: 'tlp:amber', colour: '#FFC000' },
  AMBER_STRICT: { name: 'tlp:amber+strict', colour: '#FFC000' },
  RED: { name: 'tlp:red', colour: '#FF2B2B' },
};

const TLP_TEXTS = Object.fromEntries(
  Object.entries(TLP_TAGS).map(([tlp, tag]) => [tlp, JSON.stringify(tag)]),
) as Record<Tlp, string>;

/**
 * MISP truncates longer names itself, within a character, and then treats the truncated tag as a different
 * one.
 */
const MAX_TAG_BYTES = 255;

/** Galaxy tags by the id of the entity that they represent. */
export type GalaxyTags = ReadonlyMap<string, { tlp: Tlp; names: string[] }>;

export function tlpTag(tlp: Tlp): MispTag {
  return TLP_TAGS[tlp];
}

/**
 * Returns the tags of an attribute as a JSON array: its TLP, the entities that it indicates, its own tags.
 */
export function attributeTags(row: ExportIndicator, galaxies: GalaxyTags): string {
  const links = galaxies.size === 0 ? [] : row.indicates;
  const names = new Set(links.flatMap((link) => galaxyNames(row, link, galaxies)));
  for (const tag of row.tags) if (isOwnTag(tag)) names.add(cut(tag));
  let tags = TLP_TEXTS[row.tlp];
  for (const name of names) tags += `,{"name":${JSON.stringify(name)}}`;
  return `[${tags}]`;
}

/**
 * Returns the galaxy tags of a linked entity; none if the entity or the link is more restricted than the
 * attribute. A tag cannot be marked: on an attribute for a wider audience it would disclose the entity or the
 * link.
 */
function galaxyNames(row: ExportIndicator, { id, tlp }: Indication, galaxies: GalaxyTags): string[] {
  const galaxy = galaxies.get(id);
  const isForFewer = galaxy === undefined || compareTlp(mostRestrictive([tlp, galaxy.tlp]), row.tlp) > 0;
  return isForFewer ? [] : galaxy.names;
}

/** Returns tags with these names, but those that MISP would reject or take for a marking; each once. */
export function ownTags(names: readonly string[]): MispTag[] {
  return [...new Set(names.filter(isOwnTag).map(cut))].map((name) => ({ name }));
}

/** Returns the galaxy tags of entities if neither they nor the links to them are more restricted than this. */
export function galaxyTagsOf(links: readonly Indication[], tlp: Tlp, galaxies: GalaxyTags): string[] {
  return links.flatMap((link) => {
    const galaxy = galaxies.get(link.id);
    const isForFewer = !galaxy || compareTlp(mostRestrictive([link.tlp, galaxy.tlp]), tlp) > 0;
    return isForFewer ? [] : galaxy.names;
  });
}

/** MISP rejects a blank name; a label such as `tlp:white` must not appear beside the effective marking. */
function isOwnTag(tag: string): boolean {
  return !/^\s*(tlp:|$)/i.test(tag);
}

/**
 * Truncates a tag to MISP's length between two characters: a streaming decoder holds back an incomplete one.
 */
function cut(tag: string): string {
  // No UTF-16 unit takes more than three bytes.
  if (tag.length * 3 <= MAX_TAG_BYTES || Buffer.byteLength(tag) <= MAX_TAG_BYTES) return tag;
  const bytes = Buffer.from(tag).subarray(0, MAX_TAG_BYTES);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }).trimEnd();
}

export function galaxyTags(entities: readonly ExportEntity[]): GalaxyTags {
  return new Map(entities.map((entity) => [entity.id, { tlp: entity.tlp, names: namesOf(entity) }]));
}

/**
 * Returns the galaxy tags that the entity was imported with; without any, the one that MISP would give a
 * cluster of its name.
 */
function namesOf(entity: ExportEntity): string[] {
  const given = entity.externalIds.filter((id) => /^misp-galaxy:/i.test(id));
  const names = given.length > 0 ? given : [`misp-galaxy:${galaxyOf(entity)}="${clusterName(entity)}"`];
  // A truncated galaxy tag names no cluster.
  return names.filter((name) => Buffer.byteLength(name) <= MAX_TAG_BYTES);
}

/** Returns a name such as `APT29 - G0016`, as in the galaxies derived from ATT&CK. */
function clusterName(entity: ExportEntity): string {
  const attackId = entity.kind === 'campaign' ? null : entity.attackId;
  return attackId === null ? entity.name : `${entity.name} - ${attackId}`;
}

function galaxyOf(entity: ExportEntity): string {
  switch (entity.kind) {
    case 'actor':
      return entity.attackId === null ? 'threat-actor' : 'mitre-intrusion-set';
    case 'campaign':
      return 'mitre-campaign';
    case 'technique':
      return 'mitre-attack-pattern';
    case 'software':
      if (entity.attackId !== null) return `mitre-${entity.softwareType}`;
      return entity.softwareType === 'malware' ? 'malpedia' : 'tool';
  }
}
