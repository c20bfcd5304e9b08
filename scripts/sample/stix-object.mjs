import { stableUuid } from './files.mjs';

/** Returns the common properties of a transcribed STIX 2.1 object; the id derives from its type and `name`. */
export function stixObject(type, name, stated) {
  return {
    type,
    spec_version: '2.1',
    id: `${type}--${stableUuid(`${type} ${name}`)}`,
    created: stated,
    modified: stated,
  };
}

export function indicates(source, target, stated) {
  return {
    ...stixObject('relationship', `${source} ${target}`, stated),
    relationship_type: 'indicates',
    source_ref: source,
    target_ref: target,
  };
}
