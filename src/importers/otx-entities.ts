import type { ActorRecord, ReportRecord, SoftwareRecord, TechniqueRecord } from './importer.ts';
import { type Fields, field, isObject, listOf, textOf } from './record-fields.ts';

/** Longer texts are not names. */
const MAX_NAME = 200;
const PLACEHOLDER_NAMES = new Set(['unknown', 'none', 'n/a', 'na', '-', 'various', 'multiple']);

type Common = Pick<ReportRecord, 'statedAt' | 'tlp'>;

/** Returns the adversary that the pulse names; at most one. */
export function adversaryOf(pulse: Fields, { statedAt, tlp }: Common): ActorRecord[] {
  const name = nameOf(field(pulse, 'adversary'));
  if (name === null) return [];
  return [
    {
      kind: 'actor',
      externalIds: [`otx-adversary--${name.toLowerCase()}`],
      statedAt,
      tlp,
      confidence: null,
      name,
      aliases: [],
      attackGroupId: null,
      description: null,
      country: null,
      motivation: null,
      sophistication: null,
      retired: false,
      firstSeen: null,
      lastSeen: null,
      targetSectors: [],
      targetCountries: [],
    },
  ];
}

/** Returns the malware families: names alone, or `{"id", "display_name"}`. */
export function familiesOf(pulse: Fields, { statedAt, tlp }: Common): SoftwareRecord[] {
  const names = itemsOf(pulse, 'malware_families').map((item) =>
    nameOf(isObject(item) ? (textOf(field(item, 'display_name')) ?? field(item, 'id')) : item),
  );
  return unique(names).map((name) => ({
    kind: 'software',
    externalIds: [`otx-malware--${name.toLowerCase()}`],
    statedAt,
    tlp,
    confidence: null,
    softwareType: 'malware',
    attackId: null,
    name,
    aliases: [],
    description: null,
    retired: false,
  }));
}

/**
 * Returns the techniques: ATT&CK ids alone, or `{"id", "name"}`. Ids of tactics (`TA0002`) add nothing to
 * those of techniques.
 */
export function techniquesOf(pulse: Fields, { statedAt, tlp }: Common): TechniqueRecord[] {
  const names = new Map<string, string>();
  for (const item of itemsOf(pulse, 'attack_ids')) {
    const id = textOf(isObject(item) ? field(item, 'id') : item)?.toUpperCase() ?? '';
    const name = isObject(item) ? nameOf(field(item, 'name')) : null;
    if (/^T\d{4}(\.\d{3})?$/.test(id)) names.set(id, name ?? names.get(id) ?? id);
  }
  return [...names].map(([attackId, name]) => ({
    kind: 'technique',
    externalIds: [`otx-technique--${attackId}`],
    statedAt,
    tlp,
    confidence: null,
    attackId,
    name,
    description: null,
    tactics: [],
    retired: false,
  }));
}

function itemsOf(pulse: Fields, name: string): unknown[] {
  return listOf(field(pulse, name)) ?? [];
}

function nameOf(value: unknown): string | null {
  const name = textOf(value);
  return name === null || name.length > MAX_NAME || PLACEHOLDER_NAMES.has(name.toLowerCase()) ? null : name;
}

function unique(names: (string | null)[]): string[] {
  const unique = new Map<string, string>();
  for (const name of names)
    if (name !== null && !unique.has(name.toLowerCase())) unique.set(name.toLowerCase(), name);
  return [...unique.values()];
}
