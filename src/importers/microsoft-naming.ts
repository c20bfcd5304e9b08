import type { Motivation } from '../model/vocabulary.ts';
import { countryCodeOf } from './country-names.ts';
import type { ActorRecord } from './importer.ts';
import { type Fields, field, otherNames, requiredName, textOf } from './record-fields.ts';

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
