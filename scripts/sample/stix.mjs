import { shortened } from './files.mjs';

/** Bundles that are included whole, as compact JSON. */
const WHOLE = [
  ['stix21/mvt-operation-triangulation.stix2', 'mvt-operation-triangulation.json'],
  ['stix21/oasis-poisonivy.json', 'oasis-poisonivy.json'],
  ['stix21/hyperhives-macos-infostealer.json', 'hyperhives-macos-infostealer.json'],
  ['stix21/tweetfeed-today.json', 'tweetfeed-2026-08-22.json'],
  ['stix20/unit42-2024-04-12-MidnightEclipse.json', 'unit42-midnight-eclipse.json'],
  ['stix20/unit42-2024-06-25-Latrodectus.json', 'unit42-latrodectus.json'],
];
/**
 * Unit 42 bundles (STIX 2.0) that are included without mitigations, which are most of their bytes, and without
 * intrusion sets, which have the name of a malware or a CVE and describe no actor.
 */
const CUT_DOWN = [
  ['stix20/unit42-cve-2023-23397.json', 'unit42-cve-2023-23397.json'],
  ['stix20/unit42-qakbotmalware.json', 'unit42-qakbot.json'],
  ['stix20/unit42-REvil_SupplyChain_Attack_Kaseya.json', 'unit42-kaseya.json'],
];

/** Returns pairs `[file name, bundle]`. */
export function stixBundles(data) {
  return [
    ...WHOLE.map(([from, to]) => [to, data.readJson(from)]),
    ...CUT_DOWN.map(([from, to]) => [to, cutDown(data.readJson(from))]),
  ];
}

function cutDown(bundle) {
  const isLeftOut = (object) =>
    object.type === 'course-of-action' ||
    object.type === 'intrusion-set' ||
    (object.type === 'relationship' && object.relationship_type === 'mitigates');
  const objects = bundle.objects.filter((object) => !isLeftOut(object));
  const ids = new Set(objects.map(({ id }) => id));
  return { ...bundle, objects: objects.map((object) => cut(object, ids)) };
}

/**
 * Returns an object in reduced form: techniques with short descriptions, since the ATT&CK file describes them, and
 * reports with references to included objects other than relationships.
 */
function cut(object, ids) {
  if (object.type === 'attack-pattern') {
    const references = (object.external_references ?? []).filter(
      ({ external_id }) => external_id !== undefined,
    );
    return {
      ...object,
      description: shortened(object.description ?? '', 140),
      external_references: references,
    };
  }
  if (object.type === 'report') {
    const isNamed = (id) => ids.has(id) && !id.startsWith('relationship--');
    return { ...object, object_refs: object.object_refs.filter(isNamed) };
  }
  return object;
}
