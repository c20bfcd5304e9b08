import { stableUuid } from './files.mjs';

/** What every object we transcribe to STIX 2.1 begins with; its id follows from its type and `name`. */
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
