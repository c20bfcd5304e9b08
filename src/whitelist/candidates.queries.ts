import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { blocksAround } from '../model/address-ranges.ts';
import { indicatorId } from '../model/identity.ts';
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
  const { rows } = await candidateStatement(rules, most + 1).execute(db);
  return rows.length > most ? null : rows.map(({ id }) => id);
}

/** Returns the statement that selects the ids; an index serves each of its parts. */
export function candidateStatement(rules: readonly IndexedRule[], limit: number): RawBuilder<{ id: string }> {
  return sql`${sql.join(rules.flatMap(statementsOf), sql` union `)} limit ${limit}`;
}

function statementsOf(rule: IndexedRule): RawBuilder<unknown>[] {
  switch (rule.by) {
    case 'value':
      return [sql`select id from indicator where id = ${indicatorId(rule.type, rule.value)}::uuid`];
    case 'name':
      return [ofName(rule.name, rule.reach)];
    case 'network':
      return inNetwork(rule.network);
  }
}

/**
 * Host names are ASCII and indexed in reverse: in code point order, all names below `moc.elpmaxe` sort from
 * `moc.elpmaxe.` up to `moc.elpmaxe/`.
 */
function ofName(name: string, reach: Reach): RawBuilder<unknown> {
  const host = sql`indicator_host_reversed(type, normalized) collate "C"`;
  const reversed = [...name].reverse().join('');
  const below = sql`${host} >= ${`${reversed}.`} and ${host} < ${`${reversed}/`}`;
  const itself = sql`${host} = ${reversed}`;
  const isHit = { itself, below, 'itself and below': sql`(${itself} or (${below}))` }[reach];
  return sql`select id from indicator where type in ('DOMAIN', 'EMAIL', 'URL') and ${isHit}`;
}

/** Returns the ids that networks around those of these rules have, of which some may be indicators. */
export function idsAround(rules: readonly IndexedRule[]): string[] {
  return rules.flatMap((rule) => (rule.by === 'network' ? idsAroundNetwork(rule.network) : []));
}

function idsAroundNetwork({ text }: Network): string[] {
  const type = text.includes(':') ? 'IPV6' : 'IPV4';
  return blocksAround(text, LENGTHS).map((block) => indicatorId(type, block));
}

const LENGTHS = Array.from({ length: 128 }, (_, length) => length);

/**
 * Addresses and networks within, and networks around. An IPv4 address may be the host of a URL as an IPv4-mapped IPv6
 * address.
 */
function inNetwork(network: Network): RawBuilder<unknown>[] {
  const { text, bits } = network;
  const address = sql`value::inet`;
  const host = sql`indicator_url_address(type, normalized)`;
  const found = [
    sql`select id from indicator where type in ('IPV4', 'IPV6') and ${within(address, text)}`,
    sql`select id from indicator where ${within(host, text)}`,
    sql`select id from indicator where id = any(${idsAroundNetwork(network)}::uuid[])`,
  ];
  if (text.includes(':')) return found;
  const mapped = `::ffff:${text.slice(0, text.indexOf('/'))}/${MAPPED_BITS + bits}`;
  return [...found, sql`select id from indicator where ${within(host, mapped)}`];
}

/**
 * Compares with both ends of the network, which an index serves under any plan; `<<=` needs a plan for the
 * given network.
 */
function within(address: RawBuilder<unknown>, network: string): RawBuilder<unknown> {
  const longest = network.includes(':') ? 128 : 32;
  return sql`${address} >= ${network}::inet and ${address} <= set_masklen(broadcast(${network}::inet), ${longest}::int)`;
}
