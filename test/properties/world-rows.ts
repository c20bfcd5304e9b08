import { sql } from 'kysely';
import type { Db } from '../../src/db/database.ts';
import { recordChangeDates } from '../../src/db/revision/change-dates.ts';
import { verdictOf } from '../../src/model/confidence.ts';
import { uuidv5 } from '../../src/model/identity.ts';
import { searchText } from '../../src/model/text.ts';
import { sumAt } from '../support/sums.ts';
import type { Named, World } from './world.ts';

const SOURCE_ID = uuidv5('world', '7d3a9c52-2b0e-4c55-8d39-9f2c1a0b7e64');
export const SOURCE_NAME = 'World';
const LONG_AGO = new Date('2020-01-01T00:00:00Z');

/** Puts a world in place of whatever is there, row by row: no importer has a say in it. */
export async function replaceWorld(db: Db, world: World): Promise<void> {
  // In transactions, whose commits invalidate the caches of the server.
  await db.transaction().execute((trx) => replaceIndicators(trx, world));
  if (world.summedAt) await sumAt(db, world.summedAt);
  await db.transaction().execute((trx) => insertOthers(trx, world));
}

async function replaceIndicators(db: Db, world: World): Promise<void> {
  // As any write: the revision moves, and no two worlds hold rows of one age.
  const { value } = await db
    .updateTable('revision')
    .set(({ eb }) => ({ value: eb('value', '+', 1) }))
    .returning('value')
    .executeTakeFirstOrThrow();
  const createdAt = new Date(LONG_AGO.getTime() + value * 1000);
  await sql`truncate enrichment, enrichment_request, whitelist_hit, indicator_source, indicator, actor, campaign, technique, software, report, attribute,
    relationship, external_id, source, indicator_history, link_history, entity_history, revision_log cascade`.execute(
    db,
  );
  await db
    .insertInto('source')
    .values({
      id: SOURCE_ID,
      name: SOURCE_NAME,
      kind: 'import',
      default_tlp: 'CLEAR',
      default_confidence: 50,
      default_severity: 'MEDIUM',
      created_at: LONG_AGO,
    })
    .execute();
  await insertIndicators(db, world, createdAt);
  await recordChangeDates(db, value);
}

async function insertOthers(db: Db, world: World): Promise<void> {
  await insertEntities(db, world);
  if (world.links.length > 0) {
    const links = world.links.map(({ type, from, to, tlp }) => ({
      from_id: from.id,
      to_id: to.id,
      type,
      from_kind: from.kind,
      to_kind: to.kind,
      tlp,
      source_id: SOURCE_ID,
      revision: 1,
    }));
    await db.insertInto('relationship').values(links).execute();
  }
}

/** The MISP object that the indicator of this index is in. */
export const objectOf = (index: number) => ({ id: `object ${index}`, name: 'file' });

/** What the source says of the indicator of this index. */
export const recordOf = (index: number) => ({
  id: `indicator--${index}`,
  description: `said of ${index}`,
  object: objectOf(index),
});

/** What identifies a value and `q` searches, by type. */
export function normalizedOf({ type, value }: { type: string; value: string }): string {
  return type === 'FILENAME' || type === 'USER_AGENT' ? value.toLowerCase() : value;
}

async function insertIndicators(db: Db, { indicators }: World, createdAt: Date): Promise<void> {
  const rows = indicators.map((indicator, index) => {
    const normalized = normalizedOf(indicator);
    return {
      id: indicator.id,
      number: index + 1,
      type: indicator.type,
      value: indicator.value,
      normalized,
      search_text: searchText(normalized) === normalized ? null : searchText(normalized),
      confidence: indicator.confidence,
      pinned_confidence: indicator.pinned ? indicator.confidence : null,
      severity: indicator.severity,
      tlp: indicator.tlp,
      tags: indicator.tags,
      source_id: SOURCE_ID,
      first_seen: indicator.firstSeen,
      last_seen: indicator.lastSeen,
      expires_at: indicator.expiresAt,
      for_detection: indicator.forDetection,
      has_records: true,
      whitelisted: indicator.whitelisted,
      created_at: createdAt,
      revision: 1,
    };
  });
  if (rows.length > 0) await db.insertInto('indicator').values(rows).execute();
  const statements = indicators.map((indicator, index) => ({
    indicator_number: index + 1,
    source_id: SOURCE_ID,
    stated_at: null,
    first_seen: null,
    last_seen: null,
    imported_at: LONG_AGO,
    expires_at: null,
    confidence: null,
    severity: null,
    tlp: indicator.tlp,
    tags: [],
    for_detection: true,
    of_certificate: false,
    delisted_at: null,
    records: JSON.stringify([recordOf(index)]),
  }));
  if (statements.length > 0)
    await db
      .insertInto('indicator_source')
      .values(statements as never)
      .execute();
  const enrichments = indicators.flatMap(({ id, value, enrichments: answers }) =>
    answers.map(({ provider, score, failed, expiresAt }) => ({
      indicator_id: id,
      provider,
      verdict: failed ? ('UNKNOWN' as const) : verdictOf(score),
      score: failed ? null : score,
      fetched_at: LONG_AGO,
      expires_at: expiresAt,
      error: failed ? 'no answer' : null,
      raw: JSON.stringify({ about: value }),
      revision: 1,
    })),
  );
  if (enrichments.length > 0) await db.insertInto('enrichment').values(enrichments).execute();
}

async function insertEntities(db: Db, world: World): Promise<void> {
  const common = ({ id, tlp }: Named) => ({
    id,
    description: null,
    confidence: 50,
    tlp,
    source_id: SOURCE_ID,
    stated_at: null,
    created_at: LONG_AGO,
    revision: 1,
  });
  const targets = { target_sectors: [], target_countries: [] };
  const actors = world.actors.map((actor) => ({
    ...common(actor),
    ...targets,
    name: actor.name,
    aliases: '[]',
    attack_group_id: null,
    country: null,
    motivation: 'UNKNOWN' as const,
    sophistication: null,
    retired: actor.retired,
    first_seen: null,
    last_seen: actor.lastSeen,
  }));
  if (actors.length > 0) await db.insertInto('actor').values(actors).execute();
  const campaigns = world.campaigns.map((campaign) => ({
    ...common(campaign),
    ...targets,
    name: campaign.name,
    aliases: [],
    pinned_status: campaign.pinnedStatus,
    start_date: campaign.startDate,
    end_date: campaign.endDate,
  }));
  if (campaigns.length > 0) await db.insertInto('campaign').values(campaigns).execute();
  const catalogued = (entity: Named) => ({ ...common(entity), name: entity.name, attack_id: null });
  const techniques = world.techniques.map((t) => ({
    ...catalogued(t),
    attack_id: t.attackId,
    tactics: [],
    retired: false,
  }));
  if (techniques.length > 0) await db.insertInto('technique').values(techniques).execute();
  const software = world.software.map((s) => ({
    ...catalogued(s),
    software_type: s.tool ? ('tool' as const) : ('malware' as const),
    aliases: [],
    retired: false,
  }));
  if (software.length > 0) await db.insertInto('software').values(software).execute();
  const reports = world.reports.map((report) => ({
    ...common(report),
    title: report.name,
    published_at: report.publishedAt,
    tags: [],
    url: null,
  }));
  if (reports.length > 0) await db.insertInto('report').values(reports).execute();
  const attributes = world.attributes.map((attribute) => ({
    ...common(attribute),
    type: 'text',
    value: attribute.name,
    name: null,
    category: null,
    for_detection: false,
    object: attribute.inObject === null ? null : JSON.stringify(objectOf(attribute.inObject)),
    tags: [],
  }));
  if (attributes.length > 0) await db.insertInto('attribute').values(attributes).execute();
}
