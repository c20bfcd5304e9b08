import type { CopiedRows } from '../model/copied-rows.ts';
import type { Instant } from '../model/dates.ts';
import type { KillChainPhase, MispObject, SourceRecord } from '../model/source-record.ts';
import type {
  IndicatorType,
  Motivation,
  RelationshipType,
  Severity,
  Sophistication,
  Tlp,
} from '../model/vocabulary.ts';
import type { Skipped } from './skipped.ts';

export type { Instant } from '../model/dates.ts';

/** An indicator as a format receives it: visible to the caller and matched by the filters. */
export interface ExportIndicator {
  /** UUIDv5 of type and normalized value. */
  id: string;
  /** A small number from 1 that is never reassigned: rule ids derive from it. */
  number: number;
  /** From 1; rises with every change of the indicator. */
  version: number;
  type: IndicatorType;
  /** The display form: normalized, with letter case kept where it is significant. */
  value: string;
  normalized: string;
  /** 0 to 100. */
  confidence: number;
  severity: Severity;
  tlp: Tlp;
  /** Sorted by code point, without repeats; free text, up to 256 characters each. */
  tags: string[];
  /** Name of the source that determines the confidence; free text. */
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
  /** A hash is the fingerprint of an X.509 certificate; otherwise it is that of a file. */
  ofCertificate: boolean;
  /**
   * The whitelisted addresses and CIDR blocks within a network, in ascending order, or names below a domain (see name-parts.ts),
   * which no list may contain.
   */
  whitelistedParts: readonly string[];
  /** External ids, such as `indicator--0c7b…`, sorted. */
  externalIds: string[];
  /** The statements of its sources' records; those of the source that determines the confidence come first. */
  records: readonly ExportRecord[];
  /** The ids of records that stand for this indicator and no other, in the order of `records`. */
  originalIds: readonly string[];
  /** The entities that it indicates, by id; one that is not in `ExportInfo.entities` is not visible. */
  indicates: readonly Indication[];
  /** The highest score of a provider, 0 to 100; null: none gave one. */
  score: number | null;
  /** null unless the format groups rows. */
  group: RowGroup | null;
}

/** A record of a source, with the source's name. */
export interface ExportRecord extends SourceRecord {
  source: string;
}

/** A link from an indicator to an entity, with the TLP of the link. */
export interface Indication {
  id: string;
  tlp: Tlp;
}

interface EntityBase {
  id: string;
  /** When its source last stated it (STIX `modified`); null: not stated. */
  statedAt: Date | null;
  name: string;
  description: string | null;
  /** 0 to 100. */
  confidence: number;
  tlp: Tlp;
  createdAt: Date;
  modifiedAt: Date;
  /** External ids, sorted: STIX ids, MISP galaxy tags. */
  externalIds: string[];
}

/** An entity that indicators are linked to. */
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

/** An indicator that a report or note refers to. */
export type IndicatorRef = Pick<ExportIndicator, 'id' | 'type' | 'forDetection' | 'originalIds'>;

/** An attribute that a report refers to. */
export interface AttributeRef {
  id: string;
  type: string;
  forDetection: boolean;
}

interface ContainerBase {
  id: string;
  /** When its source last stated it; null: not stated. */
  statedAt: Date | null;
  /** 0 to 100. */
  confidence: number;
  tlp: Tlp;
  tags: string[];
  createdAt: Date;
  modifiedAt: Date;
  /** External ids, sorted. */
  externalIds: string[];
}

/** A report that refers to exported indicators. */
export interface ExportReport extends ContainerBase {
  title: string;
  description: string | null;
  publishedAt: Date | null;
  authors: string[];
  /** http(s) addresses. */
  links: string[];
  /** The links to entities; one that is not in `ExportInfo.entities` is not visible. */
  entities: Indication[];
  attributes: AttributeRef[];
}

/** A report with everything that it holds besides indicators. */
export interface GroupReport extends ExportReport {
  /** Empty where only the report is read. */
  parts: ExportAttribute[];
  /** The most restrictive of its parts; null: it has none. */
  partsTlp: Tlp | null;
}

export const MISP_GROUPS = ['source', 'campaign', 'report', 'number'] as const;
export type MispGroup = (typeof MISP_GROUPS)[number];

/** How rows are grouped. */
export interface Grouping {
  by: MispGroup;
  /** Sources, and what is in no campaign or report, are divided by ranges of numbers: their size has no bound. */
  isDivided: boolean;
  /** Whether the first row of each group has its head. */
  hasHeads: boolean;
}

/** The group of a row, where rows are ordered by group; a row is repeated for each of its groups. */
export interface RowGroup {
  /** Of the source, campaign or report, or the number of the range; '': in none. Of a divided group also the range. */
  id: string;
  /** On the first row of the group. */
  head: GroupHead | null;
}

export interface GroupHead {
  title: string;
  /** The most restrictive of its rows and their links to it. */
  tlp: Tlp;
  /** That of the campaign; absent: of another kind of group. */
  ownTlp?: Tlp;
  /** The name of the source; absent: of another kind of group. */
  source?: string;
  /** The latest sighting in it. */
  lastSeen: Date;
  report: GroupReport | null;
  /** The entities that it is about. */
  entities: Indication[];
}

/** Some of the indicators that a report refers to. The parts of a report follow one another, the first with the report. */
export interface ExportReportPart {
  id: string;
  report: ExportReport | null;
  refs: readonly IndicatorRef[];
}

/** A rule, hash, text or other statement of a source that is no indicator. */
export interface ExportAttribute extends ContainerBase {
  /** MISP's type, or `note` or `stix-pattern`. */
  type: string;
  value: string;
  name: string | null;
  description: string | null;
  category: string | null;
  forDetection: boolean;
  /** When a rule is no longer valid. */
  expiresAt: Date | null;
  killChainPhases: KillChainPhase[] | null;
  object: MispObject | null;
  /** The exported reports that refer to it, by id. */
  reports: readonly string[];
  /** The exported indicators that it is about. */
  about: readonly IndicatorRef[];
  /** The entities that it indicates, as of an indicator. */
  indicates: readonly Indication[];
}

/** A link between two entities (indicators carry theirs in `indicates`). */
export interface ExportRelationship {
  fromId: string;
  toId: string;
  type: Exclude<RelationshipType, 'indicates' | 'refers-to'>;
  tlp: Tlp;
}

/**
 * The facts about an export that are known before its first row is read, from the same snapshot as the rows.
 */
export interface ExportInfo {
  /** A stable name of the query: its canonical filters, such as `tag=emotet&type=URL`; empty: everything. */
  query: string;
  /** Hexadecimal; equal if and only if the rows are equal. */
  digest: string;
  /** Number of matching indicators, including those of types that the format cannot express. */
  total: number;
  /** The number of rows that follow; a grouped row counts once. */
  rows: number;
  /** The markings of the rows and entities that follow, from the widest to the narrowest audience. */
  tlps: Tlp[];
  /** The latest sighting of the matches; null if there are none, or if the format does not read it. */
  lastSeen: Date | null;
  /**
   * When a change of this caller's response to the query was last detected, to the second; it never
   * decreases. null unless the format reads it.
   */
  changedAt: Date | null;
  /**
   * When each block of addresses last changed for this caller and query, in Unix seconds, by the first sid of its
   * rules; it never decreases.
   * Empty unless the format reads it.
   */
  addressRules: ReadonlyMap<number, number>;
  /** The beginning of the UTC day of the request; null unless the format reads it. */
  day: Date | null;
  entities: readonly ExportEntity[];
  relationships: readonly ExportRelationship[];
  /** JA3 fingerprints (MD5 in lower case) of sources, sorted; empty unless the format reads them. */
  ja3: readonly string[];
  /** Yields the attributes, then the reports; to be read in this order once the rows are; none unless the format reads them. */
  attributes(): AsyncIterable<readonly ExportAttribute[]>;
  reports(): AsyncIterable<readonly ExportReportPart[]>;
}

export const TXT_STYLES = [
  'plain',
  'paloalto',
  'fortinet',
  'checkpoint',
  'wazuh',
  'splunk',
  'nftables',
  'ipset',
  'mikrotik',
  'nginx',
  'hosts',
  'dnsmasq',
  'unbound',
  'squid',
  'postfix',
  'clamav',
  'qradar',
] as const;
export type TxtStyle = (typeof TXT_STYLES)[number];

/** Archives with lists beside rules: for Suricata 7 and newer, for Suricata 8, for Snort 3. */
export const ARCHIVE_STYLES = ['datasets', 'datasets-ndjson', 'reputation'] as const;
type ArchiveStyle = (typeof ARCHIVE_STYLES)[number];

export const STYLES = [...TXT_STYLES, ...ARCHIVE_STYLES] as const;
export type Style = (typeof STYLES)[number];

/** The order in which a limit selects indicators: the highest confidence, or the newest sighting first. */
export const LIMIT_ORDERS = ['confidence', 'newest'] as const;
export type LimitOrder = (typeof LIMIT_ORDERS)[number];

/** The largest limit of a list. */
export const MAX_LINES = 10_000_000;

/** How a list with one value per line is written. */
export interface ListOptions {
  /** The product that reads the list. */
  style: TxtStyle;
  /** One of the types of the list, where the style holds one kind of value; null: any. */
  kind: IndicatorType | null;
  /** Adjacent addresses are joined into networks. */
  collapse: boolean;
  /** Each domain also has a line with `*.` in front, where the product reads that as the names below it. */
  wildcards: boolean;
  /** No more lines than this; null: no limit. */
  maxLines: number | null;
}

/** Only so many indicators, those that come first in `order`. */
interface ExportLimit {
  count: number;
  order: LimitOrder;
}

/** The MISP event of a saved feed. */
export interface MispEventOf {
  /** For readers who may not see the filters. */
  title: string;
  /** From which its uuid derives. */
  key: string;
}

/** The options of an export besides its format. */
export interface ExportOptions {
  /** csv: prefix text that a spreadsheet would run as a formula. */
  csvGuard: boolean;
  /** txt. */
  list: ListOptions;
  /** stix and misp: with actors, campaigns, malware, techniques and their relationships. */
  context: boolean;
  /** suricata and snort: an archive with lists; null: rules alone. */
  archive: ArchiveStyle | null;
  /** misp: an event for each of these; null: one event. */
  group: MispGroup | null;
  /** misp and stix: the ids of Tipline, or those of the sources' records where one gives exactly one indicator. */
  ids: 'own' | 'original';
  /** misp: the event of a saved feed; null: that of the filters. */
  event: MispEventOf | null;
  /** null: every match. */
  limit: ExportLimit | null;
  /** The address of the application, for links to its pages; null: no links. */
  publicAddress: string | null;
}

/** The options of a request besides the format. */
export interface GivenOptions {
  csvGuard?: 'on' | 'off' | undefined;
  style?: Style | undefined;
  limit?: number | undefined;
  order?: LimitOrder | undefined;
  collapse?: 'on' | 'off' | undefined;
  wildcards?: 'on' | 'off' | undefined;
  include?: 'context' | undefined;
  group?: MispGroup | undefined;
  ids?: 'own' | 'original' | undefined;
}

/**
 * An entry of the catalogue, from which OpenAPI, `--help`, the menu of the pages and the documentation
 * describe a format.
 */
export interface FormatEntry {
  /** The display name. */
  label: string;
  /** Which products read it; Markdown. */
  purpose: string;
  /** The supported options besides `limit` and `order`, which all formats have; any other is an error. */
  options: readonly Exclude<keyof GivenOptions, 'limit' | 'order'>[];
  /** The values of the option `style`. */
  styles?: readonly Style[];
  /** A short export for the OpenAPI document, which shows the first one of each media type. */
  example?: string;
  open(options: ExportOptions): ExportFormat;
}

/**
 * An export format. `write` receives the rows in batches, in the format's order, only of its types and, for
 * `detectionOnly`, only those for detection. It yields the text in pieces of some kilobytes, holds a bounded
 * number of rows at a time, and the same state gives the same bytes, for formats that read `day` on the same day.
 * Every row is in the text or counted in `skipped`.
 */
export interface ExportFormat extends ExportShape {
  readonly mediaType: string;
  /** Of the file name, without the dot. */
  readonly extension: string;
  write(
    batches: AsyncIterable<readonly ExportIndicator[]>,
    info: ExportInfo,
    skipped: Skipped,
  ): AsyncGenerator<string | Uint8Array>;
  /**
   * Yields the same bytes as `write`, from the output of PostgreSQL's COPY for its columns, where that is
   * much faster.
   * @param toRow parses a line, without its end
   * @yields pieces that must be consumed before the next is requested
   */
  writeCopied?(
    pieces: AsyncIterable<CopiedRows>,
    toRow: (line: string) => ExportIndicator,
    info: ExportInfo,
    skipped: Skipped,
  ): AsyncGenerator<string | Uint8Array>;
}

/** Which rows a writer gets, and in which order. */
export interface ExportShape {
  /** The types that it can express; others are counted as skipped. */
  readonly types: readonly IndicatorType[];
  /** Rules and block lists: indicators that are not for detection are left out. */
  readonly detectionOnly: boolean;
  /**
   * `list`: newest sighting first. `number`: by number. `address`: IPv4 then IPv6 addresses ascending, then
   * everything else, the highest number first. `host`: addresses by number, then domains, each before those below it, which follow it directly. Rows are stored roughly in the order of their numbers, so
   * `number` needs no sort. `type`: by type in the order of `types`, then by number.
   */
  readonly order: 'list' | 'number' | 'address' | 'host' | 'type';
  /** Rows are ordered by these groups first; absent: they are not grouped. */
  readonly group?: Grouping;
  /** The members of an indicator that it reads; a row has no others. */
  readonly columns: readonly (keyof ExportIndicator)[];
  /** Whether it may leave out rows because of their values: then their number is known when all are written. */
  readonly skipsValues?: boolean;
  /** The facts that it reads besides the rows. */
  readonly reads: {
    context?: boolean;
    /** The reports that refer to the rows, and the attributes with them. */
    reports?: boolean;
    /** `originalIds` of the indicators that reports and attributes refer to. */
    originalRefs?: boolean;
    ja3?: boolean;
    /** The scores of providers. */
    scores?: boolean;
    /** Whether the rows depend on these reports and attributes. */
    reportStates?: boolean;
    lastSeen?: boolean;
    changedAt?: boolean;
    addressRules?: boolean;
    /** The content differs from one UTC day to the next. */
    day?: boolean;
  };
}

/** Returns the TLP as TLP 2.0 (FIRST) writes it: `AMBER+STRICT`. */
export function tlpName(tlp: Tlp): string {
  return tlp.replace('_', '+');
}

/** Returns the address of an indicator's page. */
export function indicatorPage(publicAddress: string, id: string): string {
  return `${publicAddress}/indicators/${id}`;
}
