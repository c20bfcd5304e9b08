import type { Motivation } from '../model/vocabulary.ts';
import { countryCodeOf } from './country-names.ts';
import type { ActorRecord } from './importer.ts';
import { type Fields, field, otherNames, requiredName, textOf } from './record-fields.ts';

/**
 * The organisations that name actors, by their uuids in MISP's galaxy of producers and under their current
 * names.
 */
export const NAMER_BY_UUID: ReadonlyMap<string, string> = new Map([
  ['0904b30c-a86b-402b-9a14-87bbc44648aa', 'Broadcom'],
  ['0adf6f0f-3795-4de1-9763-1bdd1c31a5d7', 'Cisco Talos'],
  ['0d4886f9-97e1-4cb2-8822-580fd09540e5', 'Kaspersky'],
  ['1427d7df-a9b8-4809-afe0-1180cfdd930d', 'Zscaler'],
  ['1c141c9b-ec78-4f86-a8ea-b02944fa5492', 'Bitdefender'],
  ['1ab184aa-e729-4819-a61f-8d2c303941fc', 'Lumen'],
  ['21afba9e-cd2a-45c9-b421-b1f14fd181e9', 'Group-IB'],
  ['28bceaef-f6ab-418b-ac5b-7e4089a808b5', 'Qihoo 360'],
  ['306bc923-3200-47e3-ade9-50ffc41f668c', 'Intel 471'],
  ['3176f708-da5b-4c41-926b-0a94ebeb0e3b', 'Trellix'],
  ['38847e35-166f-4025-a4bb-3e543058e353', 'AhnLab'],
  ['3a43aca5-6366-4168-b182-a8afec4550b5', 'ESET'],
  ['3ac8f6fc-9c04-4ebd-bda2-788cc02fe4ed', 'Trend Micro'],
  ['3caca164-4600-42a2-b2f0-7a552a66e7b6', 'JPCERT/CC'],
  ['455b9e40-e8dd-443b-87b3-c70bd09b4231', 'Sophos'],
  ['58d7efca-402a-4b36-9178-dc14e52f12e5', 'Elastic'],
  ['598308b3-5475-48c6-9a2c-676fe1d2c6fb', 'Google'],
  ['62e24285-103e-404e-b070-8b7fe59f5767', 'Tencent'],
  ['6c9ef130-7cf6-4eeb-9e65-46228fc5e30c', 'Sekoia'],
  ['7d60f955-f2b4-4cea-83da-8287c04e902a', 'IBM X-Force'],
  ['7730e25a-1626-4858-bd1f-1f19fbd89b4a', 'Morphisec'],
  ['94e95ed2-e07a-464a-9d56-a03679b9717a', 'BlackBerry'],
  ['996c48de-7bb8-414d-b6fe-ec94abb5f461', 'SentinelOne'],
  ['9ceb85a0-8218-43a2-8067-02cd1136e826', 'Cybereason'],
  ['9f2ba728-8b29-48f9-badf-4f4cefb929f0', 'PwC'],
  // Not in the galaxy of producers, but evident from the names: every `G0006` and the like.
  ['a1ad5090-2487-46d2-8237-6151a2dd5063', 'MITRE'],
  // The same holds for every `BRONZE …`, `GOLD …` and `TG-…`, which `origin:` keys of the same clusters
  // attribute to Secureworks.
  ['a7119872-bc6b-494b-9f7a-8c50faaf53a9', 'Secureworks'],
  ['ac46bac7-e7b5-4efe-8f32-b79e9015ab86', 'Intezer'],
  ['ad7032df-0e9a-4ea9-b35c-c68ff854be80', 'Recorded Future'],
  ['adb3369a-5683-46b2-bceb-4dafa6526b21', 'Check Point'],
  ['adc57f66-9910-4500-a16b-311cd4f08409', 'Rapid7'],
  ['b06fe596-eaa5-434a-88b8-5b21b1c8b60f', 'CERT-UA'],
  ['b8ca0932-c4cb-45c0-b7b1-88b9685ba24b', 'McAfee'],
  ['bfafdca5-3171-4953-86ab-c74f44822fd3', 'Fortinet'],
  ['c2f76813-f24c-450e-abfd-0db4495ab68e', 'Volexity'],
  ['cae79680-67a6-4411-903c-f824dbcc813f', 'Proofpoint'],
  ['d0c33595-b684-45ef-91c3-e2f5ce1a8191', 'Microsoft'],
  ['d597f230-4f70-43cb-817e-c745efd4fe35', 'WithSecure'],
  ['da5cdcd1-7b15-4371-b7eb-ca32916d2052', 'Mandiant'],
  ['e4ed3168-7830-490f-9eed-d1b3ef2daccd', 'Dragos'],
  ['e583434b-7fb8-42c8-90ce-89aa8ed35f0c', 'Symantec'],
  ['e9491d3b-2174-47d6-8a15-ecec552d16ae', 'Palo Alto Networks'],
  ['f063b54b-293c-4713-87c1-92ff760ee4ba', 'Malwarebytes'],
  ['f9eb432f-2293-48b7-bca4-cc78beb50df0', 'CrowdStrike'],
]);

/**
 * An organisation's published scheme for naming actors, and how ATT&CK's citations of that organisation
 * begin.
 */
interface Scheme {
  namer: string;
  name: RegExp;
  citation: RegExp;
}

const SCHEMES: readonly Scheme[] = [
  {
    namer: 'Microsoft',
    name: /^(?:\S+ (?:Blizzard|Typhoon|Sandstorm|Sleet|Tempest|Storm|Hail|Rain|Dust|Cyclone|Flood|Tsunami)|(?:DEV|Storm)-\d{4})$/i,
    citation: /^Microsoft\b/i,
  },
  {
    namer: 'CrowdStrike',
    name: /^\S+(?: \S+)? (?:Panda|Bear|Kitten|Chollima|Spider|Jackal|Buffalo|Tiger|Leopard|Lynx|Crane|Hawk|Wolf|Ocelot|Sphinx|Saiga)$/i,
    citation: /^CrowdStrike\b/i,
  },
  {
    namer: 'Secureworks',
    name: /^(?:(?:BRONZE|IRON|GOLD|NICKEL|COBALT|COPPER|ALUMINUM|TIN|ZINC|TUNGSTEN) \S+|TG-\d{4}|Threat Group-\d{4})$/i,
    citation: /^(?:Dell )?SecureWorks\b/i,
  },
  { namer: 'Mandiant', name: /^(?:APT|FIN|UNC)\d+$/, citation: /^(?:FireEye|Mandiant)\b/i },
  { namer: 'Proofpoint', name: /^TA\d+$/, citation: /^Proofpoint\b/i },
  { namer: 'Recorded Future', name: /^TAG-\d+$/, citation: /^Recorded ?Future\b/i },
];

/**
 * Returns the organisation that coined a name of an ATT&CK group, or null if that is unclear. The references
 * state only who uses a name; the origin is clear if one of them is by the organisation whose scheme the name
 * follows.
 * @param references the group's external references; that of a name has it as `source_name`
 */
export function namerOf(alias: string, references: Fields[]): string | null {
  const scheme = SCHEMES.find(({ name }) => name.test(alias));
  if (scheme === undefined) return null;
  const described = references.filter((reference) => textOf(reference.source_name) === alias);
  const citations = described.flatMap((reference) => citationsIn(textOf(reference.description) ?? ''));
  return citations.some((citation) => scheme.citation.test(citation)) ? scheme.namer : null;
}

/** Returns the names in `(Citation: FireEye APT28)(Citation: …)`. */
function citationsIn(description: string): string[] {
  return [...description.matchAll(/\(Citation: {0,4}([^()]{1,256})\)/g)].map(([, name = '']) => name.trim());
}

const NAME = 'Threat actor name';

/** Words that Microsoft writes beside a country, or in place of one; its other words state no motivation. */
const MOTIVATION_BY_WORD = new Map<string, Motivation>([
  ['financially motivated', 'FINANCIAL'],
  ['influence operations', 'INFORMATION_OPS'],
]);

export function isMicrosoftNaming(head: string): boolean {
  return /^\s*\[\s*\{\s*"Threat actor name"\s*:/.test(head);
}

/** Reads an entry of Microsoft's list. An alias of the same text states that the name is Microsoft's own. */
export function readMicrosoftName(entry: Fields): [ActorRecord] {
  const name = requiredName(entry, NAME);
  const origin = words(entry, 'Origin/Threat');
  const actor: ActorRecord = {
    kind: 'actor',
    externalIds: [`microsoft-threat-actor--${name.toLowerCase()}`.slice(0, 512)],
    statedAt: null,
    tlp: null,
    confidence: null,
    name,
    aliases: [
      { alias: name, namedBy: 'Microsoft' },
      ...otherNames(name, words(entry, 'Other names')).map((alias) => ({ alias, namedBy: null })),
    ],
    attackGroupId: null,
    description: null,
    country: origin.map(countryCodeOf).find((code) => code !== null) ?? null,
    motivation:
      origin.map((word) => MOTIVATION_BY_WORD.get(word.toLowerCase())).find((known) => known) ?? null,
    sophistication: null,
    retired: false,
    firstSeen: null,
    lastSeen: null,
    targetSectors: [],
    targetCountries: [],
  };
  return [actor];
}

function words(entry: Fields, name: string): string[] {
  return (textOf(field(entry, name)) ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
