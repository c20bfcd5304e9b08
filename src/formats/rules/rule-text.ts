import type { Severity, Tlp } from '../../model/vocabulary.ts';
import type { Instant } from '../format.ts';
import { urlParts } from '../url-parts.ts';

/** The description of a match at the end of a rule. */
export interface RuleDescription {
  /** The subject of the message, after the name of the service. */
  subject: string;
  severity: Severity;
  /** 0 to 100. */
  confidence: number;
  tlp: Tlp;
  /** Names of sources, free text; at least one. */
  sources: readonly string[];
  firstSeen: Instant;
  lastSeen: Instant;
  sid: number;
  /** From 1. */
  rev: number;
}

/**
 * Classes that both engines ship, and priorities, 1 the highest (INFO is below the priority of any stock
 * class).
 */
const RANKS: Readonly<Record<Severity, { classtype: string; priority: number }>> = {
  CRITICAL: { classtype: 'trojan-activity', priority: 1 },
  HIGH: { classtype: 'trojan-activity', priority: 1 },
  MEDIUM: { classtype: 'bad-unknown', priority: 2 },
  LOW: { classtype: 'misc-activity', priority: 3 },
  INFO: { classtype: 'misc-activity', priority: 4 },
};

const MAX_SUBJECT = 160;
const MAX_SOURCE = 48;
const MAX_SOURCES = 8;

/**
 * Returns a rule as a line with its end.
 * @param header action, protocol and both ends, such as `alert dns $HOME_NET any -> any any`
 * @param conditions the conditions in the language of the engine, one option each
 */
export function ruleLine(header: string, conditions: readonly string[], about: RuleDescription): string {
  const { classtype, priority } = RANKS[about.severity];
  const options = [
    `msg:"${message(about)}"`,
    ...conditions,
    `classtype:${classtype}`,
    `priority:${priority}`,
    `metadata:${metadata(about).join(', ')}`,
    `sid:${about.sid}`,
    `rev:${about.rev}`,
  ];
  return `${header} (${options.join('; ')};)\n`;
}

function message({ subject, sources, severity }: RuleDescription): string {
  const source = clipped(sources[0] ?? '', MAX_SOURCE) + (sources.length > 1 ? ' and others' : '');
  // Engines read escapes differently, and programs that show the alert read them again: this text needs none.
  return `Tipline ${clipped(subject, MAX_SUBJECT)} (${source}, ${severity})`.replace(
    /[^ -~]+|["\\;|]+/g,
    '_',
  );
}

/**
 * Returns the metadata as keys and values. Commas and semicolons would end them; a blank separates key and
 * value.
 */
function metadata({ confidence, severity, tlp, sources, firstSeen, lastSeen }: RuleDescription): string[] {
  return [
    `confidence ${confidence}`,
    `severity ${severity}`,
    `tlp ${tlp}`,
    ...sources.slice(0, MAX_SOURCES).map((name) => `source ${metadataValue(name)}`),
    `first_seen ${dateOf(firstSeen)}`,
    `last_seen ${dateOf(lastSeen)}`,
  ];
}

function metadataValue(text: string): string {
  return clipped(text, MAX_SOURCE).replace(/[^A-Za-z0-9.-]+/g, '_') || '_';
}

function clipped(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}

function dateOf(date: Instant): string {
  return date.toISOString().slice(0, 10);
}

/**
 * Returns bytes as a quoted pattern of `content`. Bytes that are not printable ASCII and those that end a
 * quote, an option or the hexadecimal itself are written in hexadecimal; backslashes too, so that there are
 * no escapes.
 */
export function pattern(text: string | Uint8Array): string {
  let written = '';
  let hex = '';
  for (const byte of Buffer.from(text)) {
    if (isPlain(byte)) {
      written += hex === '' ? String.fromCharCode(byte) : `|${hex.slice(1)}|${String.fromCharCode(byte)}`;
      hex = '';
    } else {
      hex += ` ${byte.toString(16).padStart(2, '0').toUpperCase()}`;
    }
  }
  return `"${written}${hex === '' ? '' : `|${hex.slice(1)}|`}"`;
}

const NOT_PLAIN = new Set(Buffer.from('":;\\|'));

function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f && !NOT_PLAIN.has(byte);
}

/**
 * Values up to this many bytes are compared whole. A rule is a line of at most 8,191 bytes in Suricata, and a
 * byte may take four characters to write.
 */
const MAX_WHOLE = 1500;
const MAX_PART = 500;

/** The parts of a value that a rule compares, besides its length. */
export type ExactParts =
  | { whole: Buffer; length: number }
  | { whole: null; head: Buffer; tail: Buffer; length: number };

/**
 * Returns the parts of a value to compare. For a longer value these are its first and last 500 bytes and its
 * length: a value of the same length that differs only in the middle also matches.
 */
export function exactParts(text: string): ExactParts {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  if (length <= MAX_WHOLE) return { whole: bytes, length };
  return { whole: null, head: bytes.subarray(0, MAX_PART), tail: bytes.subarray(length - MAX_PART), length };
}

/** A URL as it appears in an HTTP request. */
export interface RuleRequest {
  /** Whether it is https rather than http; a WebSocket connection begins as one or the other. */
  secure: boolean;
  /** The name or address in the Host header: lower case, without a dot at the end, which clients send as they got it. */
  host: string;
  /** null: the scheme's own. */
  port: number | null;
  /** Path and query, exactly as they are sent in origin-form (RFC 9112 §3.2.1). */
  target: string;
  /**
   * Whether engines that normalize a target leave this one unchanged: nothing to decode, no path to simplify.
   */
  isNormal: boolean;
}

const SECURE: ReadonlyMap<string, boolean> = new Map([
  ['http', false],
  ['ws', false],
  ['https', true],
  ['wss', true],
]);

const CHANGED_BY_NORMALIZING = /[^!-~]|[%+\\#]|\/[./]/;

/**
 * Returns the request for a URL; null if it is not fetched by HTTP. User name and password are in no request
 * line and no Host header.
 */
export function ruleRequest(url: string): RuleRequest | null {
  const { scheme, host, port, path, query } = urlParts(url);
  const secure = SECURE.get(scheme);
  if (secure === undefined) return null;
  const target = path + query;
  return {
    secure,
    host: host.endsWith('.') ? host.slice(0, -1) : host,
    port,
    target,
    isNormal: !CHANGED_BY_NORMALIZING.test(target),
  };
}
