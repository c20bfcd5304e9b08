import type { Readable } from 'node:stream';
import type { KillChainPhase, MispObject, SourceRecord } from '../model/source-record.ts';
import type {
  EntityKind,
  IndicatorType,
  Motivation,
  RelationshipType,
  Severity,
  Sophistication,
  Tlp,
} from '../model/vocabulary.ts';
import type { Epss, Kev } from '../model/vulnerability.ts';

/**
 * A record that importers yield. A field that the file does not state is null: the writer applies the
 * source's defaults, never an importer. Records may come in any order; relationships name their ends by
 * external id and may come before the objects they join.
 */
export type ImportRecord =
  | IndicatorRecord
  | ActorRecord
  | CampaignRecord
  | TechniqueRecord
  | SoftwareRecord
  | ReportRecord
  | AttributeRecord
  | RelationshipRecord
  | EpssRecord
  | RejectedRecord;

interface EntityRecord {
  /** The object's external ids, e.g. `indicator--0c7b…`. Several records may share one (an OR pattern). */
  externalIds: string[];
  /** When the source last stated this (STIX `modified`, MISP `timestamp`); null: not stated. */
  statedAt: Date | null;
  /** null: unmarked, the source's default applies. An unknown marking is RED. */
  tlp: Tlp | null;
  /** 0 to 100; null: not stated. */
  confidence: number | null;
  /**
   * How the source has withdrawn the record (STIX `revoked`, MISP `deleted`), in words for a rejection; absent: it has not.
   * Actors, techniques and software are `retired` instead.
   */
  withdrawn?: string;
}

export interface IndicatorRecord extends EntityRecord {
  kind: 'indicator';
  type: IndicatorType;
  /** The display form, from `normalize()`. */
  value: string;
  /** The form for comparisons, from `normalize()`. */
  normalized: string;
  severity: Severity | null;
  tags: string[];
  firstSeen: Date | null;
  lastSeen: Date | null;
  expiresAt: Date | null;
  /** false: context only, never for rules or block lists (MISP `to_ids: false`). */
  forDetection: boolean;
  /** A hash is the fingerprint of an X.509 certificate; absent: it is that of a file. */
  ofCertificate?: boolean;
  /** The id of the file that a hash is of, where the record has several hashes of it; see one-file.ts. */
  file?: string;
  /** The shortest prefix among the networks of the range that it is part of. */
  widestOfRange?: number;
  /** The complete current statement of its source: earlier undated statements no longer hold. */
  isCompleteStatement?: boolean;
  /** What CISA's catalogue states about a vulnerability; absent: nothing. */
  kev?: Kev;
  /** The other statements of the record; several of another Tipline's; absent: none. */
  records?: SourceRecord[];
}

export interface ActorRecord extends EntityRecord {
  kind: 'actor';
  name: string;
  /** The name itself is included only to state who coined it. */
  aliases: { alias: string; namedBy: string | null }[];
  /** ATT&CK group id, e.g. `G0016`. */
  attackGroupId: string | null;
  description: string | null;
  /** ISO 3166-1 alpha-2, upper case. */
  country: string | null;
  motivation: Motivation | null;
  sophistication: Sophistication | null;
  /** Revoked or deprecated by its source. */
  retired: boolean;
  firstSeen: Date | null;
  lastSeen: Date | null;
  targetSectors: string[];
  targetCountries: string[];
}

export interface CampaignRecord extends EntityRecord {
  kind: 'campaign';
  name: string;
  aliases: string[];
  description: string | null;
  startDate: Date | null;
  endDate: Date | null;
  targetSectors: string[];
  targetCountries: string[];
}

export interface TechniqueRecord extends EntityRecord {
  kind: 'technique';
  /** ATT&CK id, e.g. `T1059.001`; null for a technique of another catalogue. */
  attackId: string | null;
  name: string;
  description: string | null;
  /** ATT&CK tactic short names, e.g. `command-and-control`. */
  tactics: string[];
  retired: boolean;
}

export interface SoftwareRecord extends EntityRecord {
  kind: 'software';
  softwareType: 'malware' | 'tool';
  /** ATT&CK id, e.g. `S0154`. */
  attackId: string | null;
  name: string;
  aliases: string[];
  description: string | null;
  retired: boolean;
}

export interface ReportRecord extends EntityRecord {
  kind: 'report';
  title: string;
  description: string | null;
  publishedAt: Date | null;
  tags: string[];
  url: string | null;
  /** Names of persons or organisations. */
  authors: string[];
  /** http(s) addresses, `url` among them. */
  links: string[];
}

/** A statement of a file that is no indicator: a YARA rule, an import hash, a text, a pattern. */
export interface AttributeRecord extends EntityRecord {
  kind: 'attribute';
  /** MISP's type, such as `yara` or `imphash`; `stix-pattern` and `note` of STIX. */
  type: string;
  value: string;
  name: string | null;
  /** A description or comment. */
  description: string | null;
  /** MISP's category. */
  category: string | null;
  forDetection: boolean;
  object: MispObject | null;
  tags: string[];
  /** When a rule is no longer valid (STIX `valid_until`). */
  expiresAt: Date | null;
  /** Of a rule (STIX `kill_chain_phases`); null: none. */
  killChainPhases: KillChainPhase[] | null;
}

export interface RelationshipRecord {
  kind: 'relationship';
  type: RelationshipType;
  /** External ids of the two ends, as in `externalIds` above. */
  from: string;
  to: string;
  tlp: Tlp | null;
  /** Its own id in the source; absent: it has none. */
  id?: string;
  /** How the source has withdrawn it, in words for a rejection; absent: it has not. */
  withdrawn?: string;
}

/** The score of a vulnerability, which is no indicator. Scores are public: they have no marking. */
export interface EpssRecord extends Epss {
  kind: 'score';
  /** Normalized. */
  cve: string;
}

export interface RejectedRecord {
  kind: 'rejected';
  /** The kind of the rejected record. */
  of: EntityKind | 'relationship' | 'score';
  /** Short and stable, for counting: `not a valid domain`, `unknown type: app:id`. No values in it. */
  reason: string;
  /** The place in the file, for people: `line 12`, `object 3 (indicator--…)`. */
  where: string;
}

export interface ImportInput {
  /** For messages and for recognizing a format; `-` for standard input. */
  fileName: string;
  /** Opens the bytes from the start; may be called more than once. */
  open(): Readable;
}

/**
 * Thrown when the file cannot be read further (truncated, not the format). Records yielded before remain
 * valid.
 */
export class UnreadableInput extends Error {
  override name = 'UnreadableInput';
}

/**
 * The records of a file, in order, a part of the file at a time: a reader waits for each part, not for each record. It must read a part to
 * its end before it requests the next: they share state. Both may throw `UnreadableInput`, with a message that says what is wrong and where.
 */
export type RecordParts = AsyncGenerator<Iterable<ImportRecord>>;

export interface Importer {
  /** The identifier in options, runs and sources. */
  name: string;
  /** The display name. */
  label: string;
  /** Decides by the first 64 KiB of the text (BOM removed) and the file's name. */
  recognizes(head: string, fileName: string): boolean;
  read(input: ImportInput): RecordParts;
}
