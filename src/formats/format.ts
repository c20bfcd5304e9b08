import type { CopiedRows } from '../model/copied-rows.ts';
import type { Instant } from '../model/instant.ts';
import type {
  IndicatorType,
  Motivation,
  RelationshipType,
  Severity,
  Sophistication,
  Tlp,
} from '../model/vocabulary.ts';

export type { Instant } from '../model/instant.ts';

/** One indicator as a writer gets it: visible to the one who asks, and let through by his filters. */
export interface ExportIndicator {
  /** UUIDv5 of type and normalized value. */
  id: string;
  /** Small, from 1, never given twice: rule ids come from it. */
  number: number;
  /** From 1; rises with every change of the indicator. */
  version: number;
  type: IndicatorType;
  /** As shown: normalized, its letter case kept where it means something. */
  value: string;
  normalized: string;
  /** 0 to 100. */
  confidence: number;
  severity: Severity;
  tlp: Tlp;
  /** Sorted by code point, without repeats; free text, up to 256 characters each. */
  tags: string[];
  /** Name of the source whose confidence decides; free text. */
  source: string;
  firstSeen: Instant;
  lastSeen: Instant;
  expiresAt: Instant | null;
  /** When it was first imported here. Never changes. */
  createdAt: Instant;
  /** When it last changed here; not before `createdAt`. */
  modifiedAt: Instant;
  /** false: context only, never for rules or block lists (MISP `to_ids: false`). */
  forDetection: boolean;
  /** Ids it has elsewhere, such as `indicator--0c7b…`, sorted. */
  externalIds: string[];
  /** Entities (of `ExportInfo.entities`, or not visible) that it indicates, by id. */
  indicates: readonly Indication[];
}

/** That an indicator indicates an entity, and who may know. */
export interface Indication {
  id: string;
  tlp: Tlp;
}

interface EntityBase {
  id: string;
  /** When its source last stated it (STIX `modified`); null: it did not say. */
  statedAt: Date | null;
  name: string;
  description: string | null;
  /** 0 to 100. */
  confidence: number;
  tlp: Tlp;
  createdAt: Date;
  modifiedAt: Date;
  /** Ids it has elsewhere, sorted: STIX ids, MISP galaxy tags. */
  externalIds: string[];
}

/** What indicators are linked to. */
export type ExportEntity =
  | (EntityBase & {
      kind: 'actor';
      aliases: string[];
      /** ATT&CK group, such as `G0016`. */
      attackId: string | null;
      /** ISO 3166-1 alpha-2. */
      country: string | null;
      motivation: Motivation;
      sophistication: Sophistication | null;
      firstSeen: Date | null;
      lastSeen: Date | null;
    })
  | (EntityBase & { kind: 'campaign'; aliases: string[]; firstSeen: Date | null; lastSeen: Date | null })
  | (EntityBase & {
      kind: 'technique';
      /** Such as `T1059.001`. */
      attackId: string | null;
      /** ATT&CK tactic short names, such as `command-and-control`. */
      tactics: string[];
    })
  | (EntityBase & {
      kind: 'software';
      softwareType: 'malware' | 'tool';
      aliases: string[];
      /** Such as `S0154`. */
      attackId: string | null;
    });

/** A link between two entities (indicators carry theirs in `indicates`). */
export interface ExportRelationship {
  fromId: string;
  toId: string;
  type: Exclude<RelationshipType, 'indicates' | 'refers-to'>;
  tlp: Tlp;
}

/** What is known of the whole before its first row is read; of one snapshot with the rows. */
export interface ExportInfo {
  /** A stable name of what was asked for: the filters, canonical, such as `tag=emotet&type=URL`; empty: everything. */
  query: string;
  /** Hex; equal when, and only when, the rows are. */
  digest: string;
  /** How many indicators match, those of types that the format cannot express included. */
  total: number;
  /** The markings of the rows and entities that follow, from the widest to the narrowest audience. */
  tlps: Tlp[];
  /** The latest sighting of what matches; null when nothing does, or the format does not read it. */
  lastSeen: Date | null;
  /**
   * When what this caller gets under this question was last found to be another, to the second; it never falls. null
   * unless the format reads it.
   */
  changedAt: Date | null;
  entities: readonly ExportEntity[];
  relationships: readonly ExportRelationship[];
}

export const TXT_STYLES = ['plain', 'paloalto', 'fortinet', 'checkpoint', 'wazuh', 'splunk'] as const;
export type TxtStyle = (typeof TXT_STYLES)[number];

/** Which indicators come first where not all fit: the highest confidence, or the newest sighting. */
export const LIMIT_ORDERS = ['confidence', 'newest'] as const;
export type LimitOrder = (typeof LIMIT_ORDERS)[number];

/** The largest limit of a list. */
export const MOST_LINES = 10_000_000;

/** How a list of one value a line is written. */
export interface ListOptions {
  /** For which product. */
  style: TxtStyle;
  /** One of the types of the list, where the style holds one kind of value; null: any. */
  kind: IndicatorType | null;
  /** Adjacent addresses are joined into networks. */
  collapse: boolean;
  /** No more lines than this, of the indicators that come first in `order`; null: every match. */
  limit: { count: number; order: LimitOrder } | null;
}

/** What a caller may choose beside the format. */
export interface ExportOptions {
  /** csv: prefix what a spreadsheet would run as a formula. */
  csvGuard: boolean;
  /** txt. */
  list: ListOptions;
  /** stix and misp: with actors, campaigns, malware, techniques and their relationships. */
  context: boolean;
}

/** What a request may choose beside the format. */
export interface GivenOptions {
  csvGuard?: 'on' | 'off' | undefined;
  style?: TxtStyle | undefined;
  limit?: number | undefined;
  order?: LimitOrder | undefined;
  collapse?: 'on' | 'off' | undefined;
  include?: 'context' | undefined;
}

/** An entry of the catalogue. OpenAPI, `--help`, the pages' menu and the documentation say of a format what stands here. */
export interface FormatEntry {
  /** The name for people. */
  label: string;
  /** Which products read it; Markdown. */
  purpose: string;
  /** The options that it takes; any other is an error. */
  options: readonly (keyof GivenOptions)[];
  /** A short export, for the OpenAPI document; the first of a media type stands there. */
  example?: string;
  open(options: ExportOptions): ExportFormat;
}

/**
 * A format. `write` gets the rows in batches, in the format's order, only of its types and, for `detectionOnly`, only
 * those for detection. It yields the text in pieces of some kilobytes, holds a bounded number of rows at a time, and
 * is a pure function of its arguments: the same state gives the same bytes.
 */
export interface ExportFormat extends ExportShape {
  readonly mediaType: string;
  /** Of the file name, without the dot. */
  readonly extension: string;
  write(batches: AsyncIterable<readonly ExportIndicator[]>, info: ExportInfo): AsyncGenerator<string>;
  /**
   * The same bytes as `write` gives, from what PostgreSQL's COPY gives of its columns, where that is much quicker.
   * @param toRow of a line, without its end
   * @yields what is to be done with before the next is asked for
   */
  writeCopied?(
    pieces: AsyncIterable<CopiedRows>,
    toRow: (line: string) => ExportIndicator,
    info: ExportInfo,
  ): AsyncGenerator<string | Uint8Array>;
}

/** Which rows a writer gets, and in which order. */
export interface ExportShape {
  /** What it can express; other types are counted as skipped. */
  readonly types: readonly IndicatorType[];
  /** Rules and block lists: what is not for detection is left out. */
  readonly detectionOnly: boolean;
  /**
   * `list`: newest sighting first. `number`: by number. `address`: IPv4 then IPv6 addresses ascending, then everything
   * else, the highest number first. Rows stand about as their numbers do: by number nothing has to be sorted.
   */
  readonly order: 'list' | 'number' | 'address';
  /** What it reads of an indicator; a row has nothing else. */
  readonly columns: readonly (keyof ExportIndicator)[];
  /** What it reads beside the rows. */
  readonly reads: {
    context?: boolean;
    lastSeen?: boolean;
    changedAt?: boolean;
  };
}
