import { picked, shortened, stableUuid } from './files.mjs';

/**
 * The number of groups whose techniques and software are included: those that use the most. All groups and
 * campaigns that are not revoked are included themselves.
 */
const GROUPS_WITH_USES = 16;
/** Groups that other files of the sample name; their techniques and software are included as well. */
const NAMED_ELSEWHERE = ['G0007', 'G0010', 'G0016', 'G0032', 'G0034', 'G0050', 'G0095'];

const FIELDS = [
  'type',
  'id',
  'spec_version',
  'created',
  'modified',
  'name',
  'aliases',
  'x_mitre_aliases',
  'first_seen',
  'last_seen',
  'kill_chain_phases',
  'is_family',
  'x_mitre_is_subtechnique',
];
const RELATIONSHIP_FIELDS = [
  'type',
  'id',
  'spec_version',
  'created',
  'modified',
  'relationship_type',
  'source_ref',
  'target_ref',
];
/** Readers read the descriptions of actors and campaigns, and only look up techniques and software. */
const LONGEST_DESCRIPTION = {
  'intrusion-set': 400,
  campaign: 400,
  'attack-pattern': 140,
  malware: 140,
  tool: 140,
};

/** Returns ATT&CK Enterprise, reduced to groups, campaigns, and the techniques and software they use. */
export function attackBundle(data) {
  const { objects } = data.readJson('attack/enterprise-attack-18.1.trimmed.json');
  const kept = new Map(objects.filter(isKept).map((object) => [object.id, object]));
  const links = objects.filter((link) => isLink(link, kept));
  const chosen = chosenSources(links, kept);
  const relationships = links.filter((link) => chosen.has(link.source_ref));
  const used = new Set(relationships.map((link) => link.target_ref));
  const entities = [...kept.values()].filter(
    ({ id, type }) => type === 'intrusion-set' || type === 'campaign' || used.has(id),
  );
  return {
    type: 'bundle',
    id: `bundle--${stableUuid('tipline sample: ATT&CK Enterprise 18.1')}`,
    objects: [...entities.map(trimmed), ...relationships.map((link) => picked(link, RELATIONSHIP_FIELDS))],
  };
}

function isKept(object) {
  if (!(object.type in LONGEST_DESCRIPTION) || object.revoked === true) return false;
  const isActorOrCampaign = object.type === 'intrusion-set' || object.type === 'campaign';
  return isActorOrCampaign || object.x_mitre_deprecated !== true;
}

function isLink(link, kept) {
  if (link.type !== 'relationship' || link.revoked === true || link.x_mitre_deprecated === true) return false;
  const source = kept.get(link.source_ref);
  if (source === undefined || !kept.has(link.target_ref)) return false;
  if (source.type !== 'intrusion-set' && source.type !== 'campaign') return false;
  return link.relationship_type === 'uses' || link.relationship_type === 'attributed-to';
}

/** Returns the ids of the campaigns and groups whose relationships are included. */
function chosenSources(links, kept) {
  const uses = new Map();
  for (const { source_ref } of links) uses.set(source_ref, (uses.get(source_ref) ?? 0) + 1);
  const sources = [...kept.values()].filter(({ id }) => uses.has(id));
  const groups = sources.filter(({ type }) => type === 'intrusion-set');
  groups.sort((a, b) => uses.get(b.id) - uses.get(a.id) || (a.id < b.id ? -1 : 1));
  return new Set([
    ...sources.filter(({ type }) => type === 'campaign').map(({ id }) => id),
    ...groups.slice(0, GROUPS_WITH_USES).map(({ id }) => id),
    ...groups
      .filter((group) => NAMED_ELSEWHERE.includes(attackReference(group).external_id))
      .map(({ id }) => id),
  ]);
}

function attackReference(object) {
  return object.external_references.find(({ source_name }) => source_name === 'mitre-attack');
}

function trimmed(object) {
  const retired = object.x_mitre_deprecated === true ? { x_mitre_deprecated: true } : {};
  // ATT&CK writes cross references as Markdown links and citations; truncation could break either.
  const text = (object.description ?? '')
    .replaceAll(/\[([^\]]{1,200})\]\([^)]{1,300}\)/g, '$1')
    .replaceAll(/\(Citation: [^)]{1,200}\)/g, '');
  return {
    ...picked(object, FIELDS),
    description: shortened(text, LONGEST_DESCRIPTION[object.type]),
    external_references: [attackReference(object)],
    ...retired,
  };
}
