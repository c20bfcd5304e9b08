import { type Fields, textOf } from './record-fields.ts';

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
