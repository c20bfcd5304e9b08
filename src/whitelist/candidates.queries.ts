import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { uuidArray } from '../db/recordset.ts';
import { blocksAround } from '../model/address-ranges.ts';
import { indicatorId } from '../model/identity.ts';
import { withHostDot } from '../model/normalize-url.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import type { IndexedRule } from './matching/matcher.ts';
import type { Reach } from './matching/names.ts';
import type { Network } from './matching/network.ts';

/** Length in bits of the prefix of an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2). */
const MAPPED_BITS = 96;

/**
 * Returns the ids of all indicators that one of these rules hits, whatever their type.
 * @returns null when they are more than `most`
 */
export async function findCandidates(
  db: Db,
  rules: readonly IndexedRule[],
  most: number,
): Promise<string[] | null> {
  const statement = candidateStatement(rules, await findIdsAround(db, rules), most + 1);
  const { rows } = await statement.execute(db);
  return rows.length > most ? null : rows.map(({ id }) => id);
}

/**
 * Returns the ids that networks around those of these rules have, and domains above their names, of which some may be
 * indicators. Only networks of lengths that indicators have are considered.
 */
export async function findIdsAround(db: Db, rules: readonly IndexedRule[]): Promise<string[]> {
  return [...(await networksAround(db, rules)), ...new Set(rules.flatMap(domainsAbove))];
}

async function networksAround(db: Db, rules: readonly IndexedRule[]): Promise<string[]> {
  const networks = rules.flatMap((rule) => (rule.by === 'network' ? [rule.network] : []));
  if (networks.length === 0) return [];
  const lengths = await db.selectFrom('network_prefix').select(['type', 'length']).execute();
  const lengthsOf = (type: IndicatorType) =>
    lengths.filter((one) => one.type === type).map(({ length }) => length);
  const used = { IPV4: lengthsOf('IPV4'), IPV6: lengthsOf('IPV6') };
  return networks.flatMap(({ text }) => {
    const type = text.includes(':') ? 'IPV6' : 'IPV4';
    return blocksAround(text, used[type]).map((block) => indicatorId(type, block));
  });
}

/** Returns the ids of the domains below which a rule whitelists names; a domain has two labels at least. */
function domainsAbove(rule: IndexedRule): string[] {
  if (rule.by !== 'name') return [];
  const labels = rule.name.split('.');
  const first = rule.reach === 'below' ? 0 : 1;
  const domains = labels.slice(first, -1).map((_, index) => labels.slice(first + index).join('.'));
  return domains.map((domain) => indicatorId('DOMAIN', domain));
}

/**
 * Returns the statement that selects the ids; an index serves each of its parts.
 * @param idsAround of the networks around those of the rules, and of the domains above their names
 */
export function candidateStatement(
  rules: readonly IndexedRule[],
  idsAround: readonly string[],
  limit: number,
): RawBuilder<{ id: string }> {
  const ids = rules.flatMap((rule) => (rule.by === 'value' ? idsOfValue(rule) : []));
  const names = rules.filter((rule) => rule.by === 'name');
  const networks = rules.flatMap((rule) => (rule.by === 'network' ? [rule.network] : []));
  const parts = [
    sql`select id from indicator where id = any(${uuidArray([...ids, ...idsAround])})`,
    ...(names.length > 0 ? ofNames(names) : []),
    ...(networks.length > 0 ? inNetworks(networks) : []),
  ];
  return sql`${sql.join(parts, sql` union `)} limit ${limit}`;
}

/** A URL with a dot after its host is another indicator. */
function idsOfValue({ type, value }: Extract<IndexedRule, { by: 'value' }>): string[] {
  const values = type === 'URL' ? [value, withHostDot(value)] : [value];
  return values.map((each) => indicatorId(type, each));
}

/**
 * Host names are ASCII and indexed in reverse: in code point order, all names below `moc.elpmaxe` sort from
 * `moc.elpmaxe.` up to `moc.elpmaxe/`.
 */
function ofNames(rules: readonly { name: string; reach: Reach }[]): RawBuilder<unknown>[] {
  const host = sql`indicator_host_reversed(type, normalized) collate "C"`;
  const reversed = (reaches: readonly Reach[]) =>
    rules.filter(({ reach }) => reaches.includes(reach)).map(({ name }) => [...name].reverse().join(''));
  const found = (names: readonly string[], isHit: RawBuilder<unknown>) => sql`
    select found.id from unnest(${names}::text[]) as wanted (name), lateral (
      select id from indicator where type in ('DOMAIN', 'EMAIL', 'URL') and ${isHit} offset 0) as found`;
  return [
    found(reversed(['itself', 'itself and below']), sql`${host} = wanted.name`),
    found(
      reversed(['below', 'itself and below']),
      sql`${host} >= wanted.name || '.' and ${host} < wanted.name || '/'`,
    ),
  ];
}

/** Addresses and networks within. An IPv4 address may be the host of a URL as an IPv4-mapped IPv6 address. */
function inNetworks(networks: readonly Network[]): RawBuilder<unknown>[] {
  const texts = networks.map(({ text }) => text);
  const mapped = networks.flatMap(({ text, bits }) =>
    text.includes(':') ? [] : [`::ffff:${text.slice(0, text.indexOf('/'))}/${MAPPED_BITS + bits}`],
  );
  const found = (wanted: readonly string[], address: RawBuilder<unknown>, where = sql``) => sql`
    select found.id from unnest(${wanted}::inet[]) as wanted (network), lateral (
      select id from indicator where ${where} ${within(address)} offset 0) as found`;
  return [
    found(texts, sql`value::inet`, sql`type in ('IPV4', 'IPV6') and`),
    found([...texts, ...mapped], sql`indicator_url_address(type, normalized)`),
  ];
}

/**
 * Compares with both ends of the network, which an index serves under any plan; `<<=` needs a plan for the
 * given network.
 */
function within(address: RawBuilder<unknown>): RawBuilder<unknown> {
  const longest = sql`case family(wanted.network) when 4 then 32 else 128 end`;
  return sql`${address} >= wanted.network and ${address} <= set_masklen(broadcast(wanted.network), ${longest})`;
}
