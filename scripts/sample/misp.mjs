import { picked, shortened } from './files.mjs';

const EVENTS = [
  ['events/eset-oceanlotus.json', 'eset-oceanlotus.json'],
  ['events/eset-oceanlotus-wateringhole-2018.json', 'eset-oceanlotus-wateringhole-2018.json'],
  ['events/eset-dukes-operation-ghost.json', 'eset-dukes-operation-ghost.json'],
  ['events/eset-2018-11-20-zebrocy.json', 'eset-zebrocy.json'],
  ['events/eset-2017-05-09-trump-attack-on-syria-iocs.json', 'eset-sednit-2017.json'],
  ['events/eset-turla-lightneuron.json', 'eset-turla-lightneuron.json'],
  ['events/eset-telebots.json', 'eset-telebots.json'],
  ['events/eset-invisimole.json', 'eset-invisimole.json'],
  ['events/eset-machete.json', 'eset-machete.json'],
  ['events/eset-kryptocibule.json', 'eset-kryptocibule.json'],
  ['events/eset-ramsay.json', 'eset-ramsay.json'],
  ['feed-tweetfeed/ba5bae2f-de28-5149-a1c6-2b89b55c9b51.json', 'tweetfeed-2026-08-18.json'],
  ['feed-tweetfeed/ec185261-dda2-5256-bf1a-f93d913192fa.json', 'tweetfeed-2026-08-21.json'],
];
/** A documentation address (RFC 5737), which the feed of 2026-08-21 contains by mistake. */
const RESERVED = /(?:^|\/)198\.51\.100\.1(?:$|[:/])/;

const EVENT_FIELDS = [
  'uuid',
  'info',
  'date',
  'timestamp',
  'publish_timestamp',
  'published',
  'threat_level_id',
  'analysis',
];
const ATTRIBUTE_FIELDS = [
  'uuid',
  'type',
  'category',
  'value',
  'to_ids',
  'timestamp',
  'object_relation',
  'first_seen',
  'last_seen',
];

/** Returns pairs `[file name, event]`, in the original wrapper and without the fields that MISP makes optional. */
export function mispEvents(data) {
  return EVENTS.map(([from, to]) => {
    const file = data.readJson(`misp/${from}`);
    if ('response' in file)
      return [to, { response: file.response.map(({ Event }) => ({ Event: slim(Event) })) }];
    return [to, { Event: slim(file.Event) }];
  });
}

function slim(event) {
  return {
    ...picked(event, EVENT_FIELDS),
    ...('Orgc' in event ? { Orgc: picked(event.Orgc, ['name', 'uuid']) } : {}),
    Tag: (event.Tag ?? []).map(slimTag),
    Galaxy: (event.Galaxy ?? []).map(slimGalaxy),
    Attribute: slimAttributes(event.Attribute),
    Object: (event.Object ?? []).map((object) => ({
      ...picked(object, ['uuid', 'name', 'meta-category', 'timestamp']),
      Attribute: slimAttributes(object.Attribute),
    })),
  };
}

function slimTag(tag) {
  return picked(tag, ['name']);
}

function slimAttributes(attributes = []) {
  return attributes
    .filter(({ value }) => !RESERVED.test(value))
    .map((attribute) => {
      const { Tag = [], comment = '' } = attribute;
      const slimmed = picked(attribute, ATTRIBUTE_FIELDS);
      if (slimmed.object_relation === null) delete slimmed.object_relation;
      if (comment !== '') slimmed.comment = comment;
      if (Tag.length > 0) slimmed.Tag = Tag.map(slimTag);
      return slimmed;
    });
}

function slimGalaxy(galaxy) {
  return {
    ...picked(galaxy, ['uuid', 'name', 'type']),
    GalaxyCluster: galaxy.GalaxyCluster.map((cluster) => ({
      ...picked(cluster, ['uuid', 'type', 'value', 'tag_name']),
      description: shortened(cluster.description ?? '', galaxy.type === 'threat-actor' ? 400 : 80),
      meta: picked(cluster.meta ?? {}, ['synonyms', 'country', 'external_id', 'cfr-suspected-state-sponsor']),
    })),
  };
}
