import { createHash } from 'node:crypto';
import { chance, integer, oneOf, seededRandom, weighted } from './random.mjs';
import { SOURCES, TLPS } from './spread.mjs';

const DAY_MS = 24 * 60 * 60 * 1000;
const COUNTS = { actor: 200, campaign: 60, report: 400, technique: 700 };
const MOTIVATIONS = ['ESPIONAGE', 'FINANCIAL', 'HACKTIVISM', 'DESTRUCTION', 'INFORMATION_OPS', 'UNKNOWN'];
const SECTORS = ['government', 'energy', 'finance', 'telecoms', 'health', 'defense', 'retail'];
const COUNTRIES = ['US', 'GB', 'DE', 'FR', 'UA', 'KR', 'JP', 'IN', 'BR', 'ZA'];
const pickTlp = weighted(TLPS);

/** Returns a picker of ordinals with decreasing weights: the first has about a third of the total. */
const skewed = (count) => weighted(Array.from({ length: count }, (_, i) => [i, 1 / (i + 1) ** 1.3]));

/** The kinds of object an indicator links to, with the share of indicators that do. One indicator in twenty links to the first campaign. */
export const LINKS = [
  { kind: 'campaign', share: 0.14, pick: skewed(COUNTS.campaign) },
  { kind: 'actor', share: 0.06, pick: skewed(COUNTS.actor) },
  { kind: 'report', share: 0.08, pick: skewed(COUNTS.report) },
];

/** Returns a UUID (in the format of RFC 9562 version 8) derived from a name. */
export function idOf(name) {
  const hex = createHash('sha1').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export const entityId = (kind, ordinal) => idOf(`${kind} ${ordinal}`);

const pickSource = weighted(SOURCES.map(([name, share]) => [idOf(`source ${name}`), share]));
export const sources = {
  pick: pickSource,
  rows: (now) =>
    SOURCES.map(([name]) => [idOf(`source ${name}`), name, 'import', 'AMBER', 50, 'MEDIUM', now]),
};

/** Returns the column names and rows of every table except `indicator`, by table name. */
export function entities(now, seed) {
  const random = seededRandom(seed + 1);
  const rowsOf = (kind, row) =>
    Array.from({ length: COUNTS[kind] }, (_, i) => row(i, leadingColumns(kind, i)));
  const leadingColumns = (kind, i) => ({ id: entityId(kind, i), tlp: pickTlp(random) });
  const daysAgo = (max) => new Date(now.getTime() - random() * max * DAY_MS);
  const trailingColumns = () => [integer(random, 20, 100), sources.pick(random), now, 1];
  const sample = (list) => list.filter(() => chance(random, 0.3));
  const text = (sentences) =>
    'They were seen at work in several places, with tools of their own. '.repeat(sentences);
  return {
    actor: {
      columns:
        'id name tlp aliases attack_group_id description country motivation retired first_seen last_seen target_sectors target_countries confidence source_id created_at revision',
      rows: rowsOf('actor', (i, { id, tlp }) => [
        ...[id, `Actor ${i} ${oneOf(random, ['Bear', 'Panda', 'Kitten', 'Spider'])}`, tlp],
        JSON.stringify(
          Array.from({ length: i % 6 }, (_, n) => ({ alias: `Group ${i}-${n}`, namedBy: null })),
        ),
        chance(random, 0.5) ? `G${String(i).padStart(4, '0')}` : null,
        text(8),
        chance(random, 0.5) ? oneOf(random, COUNTRIES) : null,
        oneOf(random, MOTIVATIONS),
        chance(random, 0.05),
        ...[daysAgo(4000), daysAgo(1500), sample(SECTORS), sample(COUNTRIES), ...trailingColumns()],
      ]),
    },
    campaign: {
      columns:
        'id name tlp aliases description start_date end_date target_sectors target_countries confidence source_id created_at revision',
      rows: rowsOf('campaign', (i, { id, tlp }) => [
        ...[id, `Operation ${i}`, i === 0 ? 'CLEAR' : tlp, [], text(6)],
        chance(random, 0.9) ? daysAgo(1500) : null,
        chance(random, 0.3) ? daysAgo(300) : null,
        ...[sample(SECTORS), sample(COUNTRIES), ...trailingColumns()],
      ]),
    },
    technique: {
      columns: 'id name tlp attack_id tactics retired confidence source_id created_at revision',
      rows: rowsOf('technique', (i, { id }) => [
        ...[id, `Technique ${i}`, 'CLEAR', `T${1000 + i}`, ['execution'], false, ...trailingColumns()],
      ]),
    },
    report: {
      columns: 'id title tlp description published_at tags confidence source_id created_at revision',
      rows: rowsOf('report', (i, { id, tlp }) => [
        ...[id, `Report ${i}`, tlp, text(4), daysAgo(1500), ['report'], ...trailingColumns()],
      ]),
    },
    relationship: {
      columns: 'from_id to_id type from_kind to_kind tlp source_id revision',
      rows: links(random),
    },
  };
}

/** Returns relationships from actors and campaigns to techniques, and from campaigns to actors. */
function links(random) {
  const rows = new Map();
  const link = (from, i, type, to, j) => {
    const [fromId, toId] = [entityId(from, i), entityId(to, j)];
    rows.set(`${fromId} ${toId} ${type}`, [
      fromId,
      toId,
      type,
      from,
      to,
      pickTlp(random),
      sources.pick(random),
      1,
    ]);
  };
  const linkTechniques = (kind, i, max) => {
    for (let n = integer(random, 2, max); n > 0; n--)
      link(kind, i, 'uses', 'technique', integer(random, 0, COUNTS.technique - 1));
  };
  for (let i = 0; i < COUNTS.actor; i++) linkTechniques('actor', i, 60);
  for (let i = 0; i < COUNTS.campaign; i++) {
    linkTechniques('campaign', i, 40);
    for (let n = integer(random, 0, 2); n > 0; n--)
      link('campaign', i, 'attributed-to', 'actor', integer(random, 0, COUNTS.actor - 1));
  }
  return [...rows.values()];
}

/** Returns the relationship row for a link of an indicator. */
export function linkRow(indicator, { kind, ordinal }) {
  const otherId = entityId(kind, ordinal);
  const ends =
    kind === 'report'
      ? [otherId, indicator.id, 'refers-to', 'report', 'indicator']
      : [indicator.id, otherId, 'indicates', 'indicator', kind];
  // The relationship has the TLP label of its indicator.
  return [...ends, indicator.tlp, indicator.sourceId, 1];
}
