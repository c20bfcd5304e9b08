import { TLPS, type Tlp } from '../model/vocabulary.ts';

/** Fixed by STIX 2.1 part 7.2.1.4 (TLP 1.0), by FIRST/OASIS for TLP 2.0, and by OpenCTI for its TLP:AMBER+STRICT. */
const TLP_BY_STIX_ID = new Map<string, Tlp>([
  ['marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9', 'CLEAR'],
  ['marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da', 'GREEN'],
  ['marking-definition--f88d31f6-486f-44da-b317-01333bde0b82', 'AMBER'],
  ['marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed', 'RED'],
  ['marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487', 'CLEAR'],
  ['marking-definition--bab4a63c-aed9-4cf5-a766-dfca5abac2bb', 'GREEN'],
  ['marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421', 'AMBER'],
  ['marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003', 'AMBER_STRICT'],
  ['marking-definition--e828b379-4e03-4974-9ac4-e53a884c97c1', 'RED'],
  ['marking-definition--826578e1-40ad-459f-bc73-ede076f81f37', 'AMBER_STRICT'],
]);

const TLP_BY_WORD = new Map<string, Tlp>([
  ['WHITE', 'CLEAR'],
  ['CLEAR', 'CLEAR'],
  ['GREEN', 'GREEN'],
  ['AMBER', 'AMBER'],
  ['AMBER+STRICT', 'AMBER_STRICT'],
  ['AMBER-STRICT', 'AMBER_STRICT'],
  ['AMBER_STRICT', 'AMBER_STRICT'],
  ['AMBER STRICT', 'AMBER_STRICT'],
  ['RED', 'RED'],
]);

/** The TLP of a marking whose id is fixed; null for any other id. */
export function tlpOfStixId(id: string): Tlp | null {
  return TLP_BY_STIX_ID.get(id) ?? null;
}

/**
 * Returns the TLP of a word: `White`, `Clear`, `AMBER+STRICT`, `TLP:GREEN`, in any letter case. An unknown
 * word counts as RED.
 */
export function tlpOfWord(word: string): Tlp {
  return TLP_BY_WORD.get(word.trim().replace(/^TLP:/i, '').trim().toUpperCase()) ?? 'RED';
}

/**
 * Returns the TLP of a text that begins with `TLP:`, like a tag of MISP's taxonomy (`tlp:white`, `tlp:amber+strict`); null if it does
 * not, RED if its TLP is unknown.
 */
export function tlpOfTag(tag: string): Tlp | null {
  return /^\s*tlp:/i.test(tag) ? tlpOfWord(tag) : null;
}

/**
 * Returns the tags that are no markings, and the most restrictive TLP of those that are (`tlp:amber`, which CSV files and labels of STIX
 * objects have, too) and of a stated one.
 */
export function splitMarkings(stated: Tlp | null, tags: string[]): { tlp: Tlp | null; tags: string[] } {
  const markings = tags.map(tlpOfTag);
  return {
    tlp: mostRestrictive([stated, ...markings]),
    tags: tags.filter((_, index) => markings[index] === null),
  };
}

/** Returns the most restrictive TLP; null if none is stated. */
export function mostRestrictive(tlps: Iterable<Tlp | null>): Tlp | null {
  let narrowest = -1;
  for (const tlp of tlps) if (tlp !== null) narrowest = Math.max(narrowest, TLPS.indexOf(tlp));
  return TLPS[narrowest] ?? null;
}
