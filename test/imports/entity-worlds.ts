import fc from 'fast-check';
import type { ActorRecord } from '../../src/importers/importer.ts';
import type { SourceDefaults } from '../../src/model/statement.ts';
import type { Tlp } from '../../src/model/vocabulary.ts';
import { actorRecord } from '../support/records.ts';

/** Small worlds of groups, as a galaxy, ATT&CK, a vendor's list of names, events and a private partner tell of them. */
export const WORLD_SOURCES: Record<string, Partial<SourceDefaults>> = {
  Galaxy: { tlp: 'CLEAR', confidence: 50 },
  'ATT&CK': { tlp: 'CLEAR', confidence: 90 },
  Vendor: { tlp: 'CLEAR', confidence: 50 },
  Events: { tlp: 'GREEN', confidence: 60 },
  Partner: { tlp: 'RED', confidence: 95 },
};

export interface Said {
  source: string;
  record: ActorRecord;
}

const NAMES = ['Bear', 'Fancy', 'Pawn', 'Storm 1', 'STORM-1', 'Dukes', 'Cozy'];
const name = fc.constantFrom(...NAMES);
const aliases = fc.uniqueArray(name, { maxLength: 3 });
const number = fc.integer({ min: 1, max: 3 });
const statedAt = fc.constantFrom(null, new Date('2025-01-01T00:00:00Z'), new Date('2026-01-01T00:00:00Z'));
const uuid = (of: string, n: number) => `${of}0000000-0000-4000-8000-00000000000${n}`;
const tag = (n: number) => `misp-galaxy:threat-actor="Cluster ${n}"`;

const clusterIds = (n: number) => [`intrusion-set--${uuid('a', n)}`, `threat-actor--${uuid('a', n)}`, tag(n)];

function said(
  source: string,
  arbitrary: fc.Arbitrary<{
    name: string;
    aliases: string[];
    externalIds: string[];
    fields?: Partial<ActorRecord>;
  }>,
): fc.Arbitrary<Said> {
  return arbitrary.map(({ name: called, aliases: others, externalIds, fields }) => ({
    source,
    record: actorRecord(called, {
      externalIds,
      aliases: others.filter((other) => other !== called).map((alias) => ({ alias, namedBy: null })),
      ...fields,
    }),
  }));
}

const cluster = said(
  'Galaxy',
  fc.record({ name, aliases, n: number, attack: fc.option(number) }).map(({ n, attack, ...names }) => ({
    ...names,
    externalIds: clusterIds(n),
    fields: { attackGroupId: attack === null ? null : `G000${attack}` },
  })),
);
const attackGroup = said(
  'ATT&CK',
  fc
    .record({ name, aliases, n: number, retired: fc.boolean(), statedAt })
    .map(({ n, retired, statedAt, ...names }) => ({
      ...names,
      externalIds: [`intrusion-set--${uuid('b', n)}`],
      fields: { attackGroupId: `G000${n}`, retired, statedAt },
    })),
);
const vendorName = said(
  'Vendor',
  fc.record({ name, aliases }).map((names) => ({ ...names, externalIds: [`vendor:${names.name}`] })),
);
const mention = said(
  'Events',
  fc
    .record({
      name,
      n: number,
      form: fc.constantFrom('cluster', 'tag', 'attack', 'label'),
      statedAt,
      tlp: fc.constantFrom<Tlp | null>(null, 'CLEAR', 'RED'),
    })
    .map(({ name: called, n, form, statedAt, tlp }) => ({
      name: form === 'tag' ? `Cluster ${n}` : called,
      aliases: [],
      externalIds: {
        cluster: clusterIds(n),
        tag: [tag(n)],
        attack: [`intrusion-set--${uuid('b', n)}`, `misp-galaxy:mitre-intrusion-set="Group ${n} - G000${n}"`],
        label: [`misp-galaxy:threat-actor="${called}"`],
      }[form],
      fields: { statedAt, tlp, attackGroupId: form === 'attack' ? `G000${n}` : null },
    })),
);
const note = said(
  'Partner',
  fc.record({ name, aliases, n: fc.option(number) }).map(({ n, ...names }) => ({
    ...names,
    externalIds: n === null ? [] : [`intrusion-set--${uuid('c', n)}`],
  })),
);

export const worlds = fc.array(fc.oneof(cluster, cluster, attackGroup, vendorName, mention, note), {
  minLength: 2,
  maxLength: 12,
  size: 'max',
});
