import { createHash } from 'node:crypto';
import { listedBlocks } from '../formats/listed-blocks.ts';
import { isBlock } from '../model/address-ranges.ts';
import type { Instant } from '../model/dates.ts';
import type { IndicatorType } from '../model/vocabulary.ts';

/** The columns of an indicator on which its decisions depend. */
export interface DecisionRow {
  type: IndicatorType;
  value: string;
  tags: readonly string[];
  expires_at: Instant | null;
  for_detection: boolean;
  /** null: none. */
  whitelisted_parts: readonly string[] | null;
}

/** A decision of CrowdSec's local API (`Decision` in crowdsec's localapi_swagger.yaml). */
export interface Decision {
  id: number;
  origin: string;
  type: 'ban';
  scope: Scope;
  /** An address or a CIDR block. */
  value: string;
  /** As Go's `time.Duration` is written, in whole seconds. */
  duration: string;
  scenario: string;
}

const SCOPES = ['Ip', 'Range'] as const;
type Scope = (typeof SCOPES)[number];

const ORIGIN = 'tipline';
export const TYPE = 'ban';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The duration of a decision about an indicator without an expiry. */
const UNLIMITED_MS = DAY_MS;
/** ipset takes no longer timeout. */
const MAX_MS = 2_147_483 * SECOND_MS;
/**
 * The time for which what a client has must last at least, if it is not sent again at once: longer than the time until it is renewed
 * (see renewal.ts).
 */
const SAFE_MS = 13 * HOUR_MS;

/** Returns the longest duration of a decision: none outlasts the history from which its deletion follows. */
export const maxDuration = (changeDays: number): number => Math.min(MAX_MS, changeDays * DAY_MS);

/** Returns the addresses and CIDR blocks that are blocked for an indicator: without its whitelisted parts, as in lists. */
function blocksOf({ type, value, for_detection, whitelisted_parts }: DecisionRow): string[] {
  if (!for_detection || (type !== 'IPV4' && type !== 'IPV6')) return [];
  return listedBlocks({ value, whitelistedParts: [...(whitelisted_parts ?? [])] }, { addParts() {} });
}

const scopeOf = (block: string): Scope => (isBlock(block) ? 'Range' : 'Ip');

/** The maximum length of a scenario, in characters. */
const MAX_SCENARIO = 255;
const NOT_PRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns the tags as a scenario, which bouncers log and filter by; an indicator without tags has the origin. */
function scenarioOf(tags: readonly string[]): string {
  let scenario = '';
  for (const tag of tags) {
    const next = `${scenario}${scenario && ','}${tag.replace(NOT_PRINTABLE, '')}`;
    if (next.length > MAX_SCENARIO) break;
    scenario = next;
  }
  return scenario || ORIGIN;
}

/** The filters of a request; absent: none. */
export interface DecisionFilter {
  scopes?: readonly string[];
  origins?: readonly string[];
  /** Any of these texts in the scenario, regardless of case. */
  containing?: readonly string[];
  notContaining?: readonly string[];
}

/** Returns the blocks of an indicator whose decisions match a filter. */
export function matchingBlocks(row: DecisionRow, filter: DecisionFilter): string[] {
  const { scopes, origins, containing, notContaining } = filter;
  if (origins && !origins.includes(ORIGIN)) return [];
  if (containing || notContaining) {
    const scenario = scenarioOf(row.tags).toLowerCase();
    const has = (text: string) => scenario.includes(text.toLowerCase());
    if (containing && !containing.some(has)) return [];
    if (notContaining?.some(has)) return [];
  }
  const blocks = blocksOf(row);
  if (!scopes) return blocks;
  const wanted = new Set(scopes.map((scope) => scope.toLowerCase()));
  return blocks.filter((block) => wanted.has(scopeOf(block).toLowerCase()));
}

/** The first id of decisions about parts of networks: numbers of indicators are lower. All are exact in JSON. */
const PART_IDS = 2 ** 52;

/** Returns the id of a decision: the number of the indicator; for a part of a network, one that follows from the part. */
function idOf(block: string, { number, value }: { number: number; value: string }): number {
  if (block === value) return number;
  const digest = createHash('sha256').update(block).digest();
  return PART_IDS + (digest.readUIntBE(0, 6) % 2 ** 47) * 16;
}

export interface DecisionContext {
  now: Date;
  /** The longest duration, in milliseconds. */
  maxMs: number;
}

export function toDecision(
  block: string,
  row: DecisionRow & { number: number },
  { now, maxMs }: DecisionContext,
): Decision {
  const until = row.expires_at === null ? UNLIMITED_MS : Number(row.expires_at) - Number(now);
  return {
    id: idOf(block, row),
    origin: ORIGIN,
    type: TYPE,
    scope: scopeOf(block),
    value: block,
    duration: goDuration(Math.min(until, maxMs)),
    scenario: scenarioOf(row.tags),
  };
}

/** A decision that a client has been sent and must delete. */
export interface Deletion {
  id: number;
  value: string;
}

export const deletionOf = (block: string, row: { number: number; value: string }): Deletion => ({
  id: idOf(block, row),
  value: block,
});

/** Returns a deletion as a decision. Bouncers find what to delete by the value. */
export function toDeletedDecision({ id, value: block }: Deletion): Decision {
  return {
    id,
    origin: ORIGIN,
    type: TYPE,
    scope: scopeOf(block),
    value: block,
    duration: '0s',
    scenario: ORIGIN,
  };
}

/**
 * Returns a duration as Go writes it, in whole seconds, which every bouncer can parse, and at least one: nftables and ipset
 * take 0 for no timeout.
 */
function goDuration(ms: number): string {
  const seconds = Math.max(1, Math.floor(ms / SECOND_MS));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}

/**
 * Returns whether a decision that a client has must be sent again at once because the expiry has changed: it would end before it
 * is renewed, or last longer than the indicator.
 */
export function mustResend(before: DecisionRow, after: DecisionRow, now: Date): boolean {
  const [had, has] = [endOf(before), endOf(after)];
  return has < had || (has > had && had <= now.getTime() + SAFE_MS);
}

const endOf = ({ expires_at }: DecisionRow) =>
  expires_at === null ? Number.POSITIVE_INFINITY : Number(expires_at);
