// Written by scripts/clients.mjs from openapi/openapi.json: npm run openapi.

import type { Operations } from './operations.js';

/** The state of this process and, when asked, of what it depends on. */
export interface Health {
  status: HealthStatus;
  /** Always tipline. */
  service: string;
  /** The version of the service. */
  version: string;
  /** For how long the process has been running. */
  uptimeSeconds: number;
  /** The time of this answer. */
  timestamp: string;
  /** What was asked with deep=1. */
  checks?: {
    /** The relational database. */
    database: {
      status: HealthStatus;
      /** How long it took to answer, in milliseconds. */
      latencyMs: number;
      /** What is wrong with it, where something is. */
      message?: string;
    };
    /** The key-value store, which counts requests. */
    keyValueStore: {
      status: HealthStatus;
      /** How long it took to answer, in milliseconds. */
      latencyMs: number;
      /** What is wrong with it, where something is. */
      message?: string;
    };
  };
}

/** An observable, and what its sources say of it. */
export interface Indicator {
  /** Stable: derived from type and normalized value. */
  id: string;
  type: IndicatorType;
  /** The observable. */
  value: string;
  /**
   * That it is malicious, 0 to 100: pinned by an analyst, or the highest of providers’ scores, or the
   * source’s.
   */
  confidence: number;
  severity: Severity;
  tlp: Tlp;
  /** Free text of the sources, sorted. */
  tags: string[];
  /** The source whose confidence decides. */
  source: string | null;
  /** When it was first seen, as its sources say. */
  firstSeen: string;
  /** When it was last seen, as its sources say. */
  lastSeen: string;
  /** Not returned from this instant on; null: never. */
  expiresAt: string | null;
  /**
   * Whether it may be used for detection and blocking; false: its sources give it as context only, such as
   * MISP’s `to_ids: false`.
   */
  forDetection: boolean;
  /** Of a CVE id: its EPSS score (FIRST); null: none is known. */
  epss?: {
    /** The probability that it is exploited within 30 days. */
    score: number;
    /** The share of all vulnerabilities with the same or a lower score. */
    percentile: number;
    /** The first day of the published scores on which both had these values. */
    date: string;
  } | null;
  /**
   * Of a CVE id: its entry in CISA’s catalogue of known exploited vulnerabilities; null: it has none, or no
   * source has the catalogue.
   */
  kev?: {
    /** When it was added to the catalogue. */
    dateAdded: string | null;
    /** Until when agencies of the United States must act. */
    dueDate: string | null;
    /** Whether ransomware campaigns are known to use it; false: not known. */
    knownRansomware: boolean;
    /** What to do. */
    requiredAction: string | null;
  } | null;
}

/** A page of a list. */
export interface IndicatorList {
  /** The items of the page. */
  data: Indicator[];
  /** The page returned. */
  page: number;
  /** The page size used. */
  pageSize: number;
  /** How many items match, on all pages together. */
  total: number;
}

/** One item. */
export interface IndicatorItem {
  data: Indicator;
}

/** All that is known about one indicator. */
export interface IndicatorContext {
  /** Stable: derived from type and normalized value. */
  id: string;
  type: IndicatorType;
  /** The observable. */
  value: string;
  /** The value, safe to paste. */
  defanged: string;
  /** The form that `q` is compared with. */
  normalizedValue: string;
  /**
   * Of a network: the whitelisted addresses and networks within. Of a domain: the whitelisted names below,
   * `=name` without and `*.name` as those below it alone. They must not be blocked; lists and rules leave
   * them out.
   */
  whitelistedParts: string[];
  /** When it was first seen, as its sources say. */
  firstSeen: string;
  /** When it was last seen, as its sources say. */
  lastSeen: string;
  /** Not returned from this instant on; null: never. */
  expiresAt: string | null;
  severity: Severity;
  /**
   * That it is malicious, 0 to 100: pinned by an analyst, or the highest of providers’ scores, or the
   * source’s.
   */
  confidence: number;
  /** An analyst has pinned the confidence. */
  confidenceLocked: boolean;
  tlp: Tlp;
  /** Free text of the sources, sorted. */
  tags: string[];
  /**
   * Whether it may be used for detection and blocking; false: its sources give it as context only, such as
   * MISP’s `to_ids: false`.
   */
  forDetection: boolean;
  /** Of a CVE id: its EPSS score (FIRST); null: none is known. */
  epss?: {
    /** The probability that it is exploited within 30 days. */
    score: number;
    /** The share of all vulnerabilities with the same or a lower score. */
    percentile: number;
    /** The first day of the published scores on which both had these values. */
    date: string;
  } | null;
  /**
   * Of a CVE id: its entry in CISA’s catalogue of known exploited vulnerabilities; null: it has none, or no
   * source has the catalogue.
   */
  kev?: {
    /** When it was added to the catalogue. */
    dateAdded: string | null;
    /** Until when agencies of the United States must act. */
    dueDate: string | null;
    /** Whether ransomware campaigns are known to use it; false: not known. */
    knownRansomware: boolean;
    /** What to do. */
    requiredAction: string | null;
  } | null;
  /** The source whose confidence decides. */
  source: {
    /** Its name. */
    name: string;
    /** How it came: a file, a feed, or by hand. */
    type: string;
  };
  /** The providers’ answers, taken together. */
  enrichmentSummary: {
    /** From the highest score: 70 and over MALICIOUS, 30 and over SUSPICIOUS, under it BENIGN, none UNKNOWN. */
    verdict: Verdict;
    /** The highest score; null: no provider gave one. */
    maxScore: number | null;
    /** Providers that did not fail. */
    providerCount: number;
    /** Whether every answer counted is fresh. */
    fresh: boolean;
  };
  /** The providers’ answers. */
  enrichments: Array<{
    /** The queried provider. */
    provider: string;
    /** By its score alone. */
    verdict: Verdict;
    /** Its score, 0 to 100; null: it gave none. */
    score: number | null;
    /** Not older than the provider’s answers are good for. */
    fresh: boolean;
    /** When the provider responded. */
    fetchedAt: string;
    /** Until when the answer is fresh. */
    expiresAt: string;
    /** Why there is no judgement: the provider failed. */
    error: string | null;
    /** The raw response of the provider. */
    raw: unknown;
  }>;
  /** The threat actors that it is linked to. */
  actors: Array<{
    /** Its id here. */
    id: string;
    /** The name. */
    name: string;
    /** The name in lower case, digits and hyphens. */
    slug: string;
    /** ATT&CK group id, such as G0016. */
    attackGroupId: string | null;
    /** ISO 3166-1 alpha-2. */
    country: string | null;
    motivation: Motivation;
    /** False when retired by its source or last seen over two years ago. */
    active: boolean;
    /** That it is what it is said to be, 0 to 100. */
    confidence: number;
  }>;
  /** The campaigns that it is linked to. */
  campaigns: Array<{
    /** Its id here. */
    id: string;
    /** The name. */
    name: string;
    /** The name in lower case, digits and hyphens. */
    slug: string;
    status: CampaignStatus;
    /** That it is what it is said to be, 0 to 100. */
    confidence: number;
  }>;
  /** The reports that refer to it. */
  reports: Array<{
    /** Its id here. */
    id: string;
    /** The title. */
    title: string;
    /** The name in lower case, digits and hyphens. */
    slug: string;
    /** When it was published; null: not known. */
    publishedAt: string | null;
    tlp: Tlp;
    /** Free text of the sources, sorted. */
    tags: string[];
    /** That it is what it is said to be, 0 to 100. */
    confidence: number;
    /** Its text. */
    description: string | null;
    /** Persons and organisations. */
    authors: string[];
    /** Addresses that it gives. */
    links: string[];
  }>;
  /** The statements of its sources’ records, as the sources wrote them. */
  records: Array<{
    /** The name of the source. */
    source: string;
    /** The record’s id in its source. */
    id: string | null;
    /** When the source last stated it. */
    statedAt: string | null;
    /** Its name there. */
    name: string | null;
    /** Its description or comment. */
    description: string | null;
    /** Whether attacks come from it or go to it, where the source says so. */
    direction: "source" | "destination" | null;
    /** MISP’s type of attribute. */
    type: string | null;
    /** MISP’s category. */
    category: string | null;
    /** The value there, where it has more than this indicator, such as a port. */
    original: string | null;
    /** Steps of an attack. */
    killChainPhases: Array<{
      /** Such as lockheed-martin-cyber-kill-chain. */
      chain: string;
      /** Such as delivery. */
      phase: string;
    }>;
    /** The MISP object that it is part of. */
    object: {
      /** Its UUID. */
      id: string;
      /** Of its template, such as file. */
      name: string;
      /** The part in it, such as filename. */
      relation: string | null;
    } | null;
  }>;
  /**
   * Related statements of its sources that are no indicators, at most 200: notes, and the other parts of its
   * MISP objects.
   */
  attributes: Array<{
    /** Its id here. */
    id: string;
    /** MISP’s type, or note or stix-pattern. */
    type: string;
    /** The value or text. */
    value: string;
    /** The name. */
    name: string | null;
    /** The description or comment. */
    description: string | null;
    /** MISP’s category. */
    category: string | null;
    /** Steps of an attack. */
    killChainPhases: Array<{
      /** Such as lockheed-martin-cyber-kill-chain. */
      chain: string;
      /** Such as delivery. */
      phase: string;
    }>;
    /** The MISP object that it is part of. */
    object: {
      /** Its UUID. */
      id: string;
      /** Of its template, such as file. */
      name: string;
      /** The part in it, such as filename. */
      relation: string | null;
    } | null;
    tlp: Tlp;
  }>;
}

/** Changes of a list of indicators. */
export interface IndicatorChanges {
  /** In the order in which they were made; of a saved feed with a limit, by id. */
  changes: Array<{
    /** The indicator is new, or has changed. */
    op: "upsert";
    indicator: Indicator;
  } | {
    /**
     * It has expired, is whitelisted, is above the ceiling of the key, or does not match the filters any
     * more; or, in a saved feed with a limit, another one has taken its place.
     */
    op: "remove";
    /** The id of the indicator. */
    id: string;
    /** Its type. */
    type: IndicatorType;
    /** The observable. */
    value: string;
  }>;
  /** For the next request. It is the one of the request if nothing has changed. */
  cursor: string;
  /** More changes follow at once. */
  hasMore: boolean;
}

/** What is known about a value. */
export interface LookupResult {
  /** The value as it was asked for. */
  asked: string;
  /** The type as which it was read; null: it was not. */
  type: IndicatorType | null;
  /** The value as it was read, refanged and normalized. */
  value: string | null;
  /** Why it was not read; null: it was. */
  reason: string | null;
  /** Whether anything matches. */
  known: boolean;
  /** By the highest confidence of the matches that are for detection; UNKNOWN: there are none. */
  verdict: Verdict;
  /** The indicators that say something about it, itself first. */
  matches: Array<{
    /**
     * exact: the value itself. same-file: another listed hash of the file, by a statement of a source; at
     * most 20, SHA-256 first, then SHA-1 and MD5. in-network: a listed network around the address.
     * parent-domain: a listed domain above it. url-scheme: the URL with https instead of http, or http
     * instead of https. url-host: the host of the URL. url-prefix: a listed folder above the URL, or the URL
     * without its query, without a user name before its host, or with or without a dot after its host.
     * email-domain: the domain of the address.
     */
    relation: "exact" | "same-file" | "in-network" | "parent-domain" | "url-scheme" | "url-host" | "url-prefix" | "email-domain";
    indicator: Indicator;
  }>;
}

/** The results of a look-up. */
export interface LookupResults {
  /** One result for each value, in their order. */
  data: LookupResult[];
}

/** A threat actor. */
export interface Actor {
  /** Stable: of its source, or derived from its name. */
  id: string;
  /** The name. */
  name: string;
  /** The name in lower case, digits and hyphens. */
  slug: string;
  /** ATT&CK group id, such as G0016. */
  attackGroupId: string | null;
  /** The country it is said to act for, ISO 3166-1 alpha-2; null: not known. */
  country: string | null;
  motivation: Motivation;
  /** How capable it is; null: not known. */
  sophistication: Sophistication | null;
  /** False when retired by its source or last seen over two years ago. */
  active: boolean;
  /** The confidence of its source, 0 to 100. */
  confidence: number;
  tlp: Tlp;
  /** Its other names. */
  aliases: Array<{
    /** Another name. */
    alias: string;
    /** Who uses this name; null: not known. */
    namedBy: string | null;
  }>;
}

/** A threat actor with what it is known to use. */
export interface ActorDetail {
  /** Stable: of its source, or derived from its name. */
  id: string;
  /** The name. */
  name: string;
  /** The name in lower case, digits and hyphens. */
  slug: string;
  /** ATT&CK group id, such as G0016. */
  attackGroupId: string | null;
  /** The country it is said to act for, ISO 3166-1 alpha-2; null: not known. */
  country: string | null;
  motivation: Motivation;
  /** How capable it is; null: not known. */
  sophistication: Sophistication | null;
  /** False when retired by its source or last seen over two years ago. */
  active: boolean;
  /** The confidence of its source, 0 to 100. */
  confidence: number;
  tlp: Tlp;
  /** Its other names. */
  aliases: Array<{
    /** Another name. */
    alias: string;
    /** Who uses this name; null: not known. */
    namedBy: string | null;
  }>;
  /** What its source says of it. */
  description: string | null;
  /** Sectors that it is known to attack. */
  targetSectors: string[];
  /** Countries that it is known to attack. */
  targetCountries: string[];
  /** When it was first seen; null: not known. */
  firstSeen: string | null;
  /** When it was last seen; null: not known. */
  lastSeen: string | null;
  /** The ATT&CK techniques that it uses. */
  techniques: Array<{
    /** Its id here. */
    id: string;
    /** ATT&CK id, such as T1003 or S0154. */
    attackId: string | null;
    /** The name. */
    name: string;
    /** ATT&CK tactics by their short names, such as credential-access. */
    tactics: string[];
  }>;
  /** The malware that it uses. */
  malware: Array<{
    /** Its id here. */
    id: string;
    /** ATT&CK id, such as T1003 or S0154. */
    attackId: string | null;
    /** The name. */
    name: string;
  }>;
  /** The tools that it uses. */
  tools: Array<{
    /** Its id here. */
    id: string;
    /** ATT&CK id, such as T1003 or S0154. */
    attackId: string | null;
    /** The name. */
    name: string;
  }>;
}

/** A page of a list. */
export interface ActorList {
  /** The items of the page. */
  data: Actor[];
  /** The page returned. */
  page: number;
  /** The page size used. */
  pageSize: number;
  /** How many items match, on all pages together. */
  total: number;
}

/** One item. */
export interface ActorItem {
  data: ActorDetail;
}

/** Changes of a list of actors. */
export interface ActorChanges {
  /** In the order in which they were made, removals last. */
  changes: Array<{
    /** The actor is new, or has changed. */
    op: "upsert";
    actor: Actor;
  } | {
    /** It is withdrawn, above the ceiling of the key, or does not match the filters any more. */
    op: "remove";
    /** Its id. */
    id: string;
    /** Its name. */
    name: string;
  }>;
  /** For the next request. It is the one of the request if nothing has changed. */
  cursor: string;
  /** More changes follow at once. */
  hasMore: boolean;
}

/** A campaign. */
export interface Campaign {
  /** Stable: of its source, or derived from its name. */
  id: string;
  /** The name. */
  name: string;
  /** The name in lower case, digits and hyphens. */
  slug: string;
  /** What its source says of it. */
  description: string | null;
  status: CampaignStatus;
  /** When it began; null: not known. */
  startDate: string | null;
  /** When it ended; null: not known, or not yet. */
  endDate: string | null;
  /** Sectors that it is known to attack. */
  targetSectors: string[];
  /** Countries that it is known to attack. */
  targetCountries: string[];
  /** The confidence of its source, 0 to 100. */
  confidence: number;
  tlp: Tlp;
  /** Linked actors that this key may see. */
  actorCount: number;
  /** Linked techniques that this key may see. */
  techniqueCount: number;
  /** What this key could list with campaignId. */
  indicatorCount: number;
}

/** A page of a list. */
export interface CampaignList {
  /** The items of the page. */
  data: Campaign[];
  /** The page returned. */
  page: number;
  /** The page size used. */
  pageSize: number;
  /** How many items match, on all pages together. */
  total: number;
}

/** One item. */
export interface CampaignItem {
  data: Campaign;
}

/** Changes of a list of campaigns. */
export interface CampaignChanges {
  /** In the order in which they were made, removals last. */
  changes: Array<{
    /** The campaign is new, or has changed. */
    op: "upsert";
    campaign: Campaign;
  } | {
    /** It is withdrawn, above the ceiling of the key, or does not match the filters any more. */
    op: "remove";
    /** Its id. */
    id: string;
    /** Its name. */
    name: string;
  }>;
  /** For the next request. It is the one of the request if nothing has changed. */
  cursor: string;
  /** More changes follow at once. */
  hasMore: boolean;
}

/** A technique that an actor or a campaign uses. */
export interface Technique {
  /** Its id here. */
  id: string;
  /** ATT&CK id, such as T1003 or T1059.001; null: it has none. */
  attackId: string | null;
  /** The name. */
  name: string;
  /** What its source says of it. */
  description: string | null;
  /** ATT&CK tactics by their short names, such as credential-access. */
  tactics: string[];
  /** The confidence of its source, 0 to 100. */
  confidence: number;
  tlp: Tlp;
}

/** A page of a list. */
export interface TechniqueList {
  /** The items of the page. */
  data: Technique[];
  /** The page returned. */
  page: number;
  /** The page size used. */
  pageSize: number;
  /** How many items match, on all pages together. */
  total: number;
}

/** A report that refers to an actor or a campaign. */
export interface Report {
  /** Its id here. */
  id: string;
  /** The title. */
  title: string;
  /** The title in lower case, digits and hyphens. */
  slug: string;
  /** Its text. */
  description: string | null;
  /** Its address. */
  url: string | null;
  /** When it was published; null: not known. */
  publishedAt: string | null;
  /** Free text of the sources, sorted. */
  tags: string[];
  /** Persons and organisations. */
  authors: string[];
  /** Addresses that it gives. */
  links: string[];
  /** The confidence of its source, 0 to 100. */
  confidence: number;
  tlp: Tlp;
}

/** A page of a list. */
export interface ReportList {
  /** The items of the page. */
  data: Report[];
  /** The page returned. */
  page: number;
  /** The page size used. */
  pageSize: number;
  /** How many items match, on all pages together. */
  total: number;
}

/** A layer of the ATT&CK Navigator, format 4.5. */
export interface NavigatorLayer {
  /** The name of the actor, campaign or feed, or of the rules. */
  name: string;
  /** Without the version of ATT&CK, because sources do not state theirs: the Navigator takes its latest. */
  versions: {
    /** The first version of the Navigator that reads the format. */
    navigator: string;
    /** The version of the format. */
    layer: string;
  };
  /** Always enterprise-attack. */
  domain: string;
  /** What its source says of the actor or campaign, or what the layer has. */
  description?: string;
  /** Always false. */
  hideDisabled: boolean;
  /**
   * By id; one entry for each tactic of a technique, or one without a tactic if a tactic is not known or not
   * part of every version of ATT&CK.
   */
  techniques: Array<{
    /** ATT&CK id, such as T1059 or T1059.001. */
    techniqueID: string;
    /** The short name of the tactic; absent: the entry is for every tactic of the technique. */
    tactic?: string;
    /**
     * Of an actor or campaign 100: used. Of a feed how many of its actors and campaigns use it. Of the Sigma
     * rules how many there are for it. Absent: the entry is the parent of an entered sub-technique.
     */
    score?: number;
    /** Who uses it, or where the rules are from. */
    comment?: string;
    /** Always true. */
    enabled: boolean;
    /** The page of the technique at MITRE. */
    links?: Array<{
      /** Its text. */
      label: string;
      /** Its address. */
      url: string;
    }>;
    /** True: the layer has sub-techniques of it, which the Navigator then shows. */
    showSubtechniques?: boolean;
  }>;
  /** The colours of the scores. */
  gradient: {
    /** From the minimum to the maximum. */
    colors: string[];
    /** The lowest score. */
    minValue: number;
    /** The highest score. */
    maxValue: number;
  };
  /** The legend. */
  legendItems: Array<{
    /** Its text. */
    label: string;
    /** Its colour. */
    color: string;
  }>;
  /** The page of the group at MITRE. */
  links?: Array<{
    /** Its text. */
    label: string;
    /** Its address. */
    url: string;
  }>;
}

/** A saved feed: an export with a name. */
export interface Feed {
  /** The last part of its address. */
  slug: string;
  /** Its name. */
  name: string;
  /** Its purpose; may be empty. */
  description: string;
  /** Its format, unless the request asks for another one. */
  format: ExportFormat;
  /** Its filters and options, as the query string of GET /api/v1/exports/{format}. */
  query: string;
  /** The most restricted TLP in it, for all readers. */
  tlpCeiling: Tlp;
  /** A source does not delist entries if fewer than these would remain; null: no minimum. */
  minEntries: number | null;
  /**
   * A source does not delist entries if less than this share (in percent) of the number of entries on an
   * earlier day would remain; null: no minimum.
   */
  minShare: number | null;
  /** When its definition was last changed. */
  changedAt: string;
}

/** The saved feeds. */
export interface FeedList {
  /** By slug. */
  data: Feed[];
}

/** manifest.json of a MISP feed: what MISP shows of an event, by the event’s uuid. */
export type MispManifest = Record<string, unknown>;

/** An event in MISP’s core format. */
export interface MispEvent {
  /** The event, with whatever else MISP’s core format has. */
  Event: {
    /** Equal requests have equal ids. */
    uuid: string;
    /** What the event is about. */
    info: string;
    /** The indicators, as MISP’s attributes. */
    Attribute: Record<string, unknown>[];
    [property: string]: unknown;
  };
}

/** One event, or with `group` several. */
export type MispExport = MispEvent | {
  /** With `group`: an event for each group. */
  response: MispEvent[];
};

/** A bundle of STIX 2.1. */
export interface StixBundle {
  /** What it is. */
  type: "bundle";
  /** Equal requests have equal ids. */
  id: string;
  /** STIX objects: markings, identities, indicators, and what they are linked to. */
  objects: Record<string, unknown>[];
}

/** The API roots of the server (TAXII 2.1 §4.1.1). */
export interface TaxiiDiscovery {
  /** The name of the server. */
  title: string;
  /** What the server has. */
  description: string;
  /** The API root to use. */
  default: string;
  /** The URLs of the API roots, absolute or of this server. */
  api_roots: string[];
}

/** An API root (TAXII 2.1 §4.2.1). */
export interface TaxiiApiRoot {
  /** The name of the API root. */
  title: string;
  /** What the API root has. */
  description: string;
  /** The media types of the versions of TAXII. */
  versions: string[];
  /** The maximum size of the body of a request in bytes. */
  max_content_length: number;
}

/** A collection (TAXII 2.1 §5.2.1). */
export interface TaxiiCollection {
  /** The id. */
  id: string;
  /** The name. */
  title: string;
  /** What the collection has. */
  description?: string;
  /** A name that stands for the id in URLs. */
  alias: string;
  /** Whether its objects can be read. */
  can_read: boolean;
  /** Whether objects can be added. */
  can_write: boolean;
  /** The media types of its objects. */
  media_types: string[];
}

/** The collections that the key can read (TAXII 2.1 §5.1.1). */
export interface TaxiiCollections {
  /** Absent: there are none. */
  collections?: TaxiiCollection[];
}

/** Objects of a collection (TAXII 2.1 §3.7). */
export interface TaxiiEnvelope {
  /** Whether there is more; absent: no. */
  more?: boolean;
  /** The parameter `next` of the request for the rest. */
  next?: string;
  /** Objects of STIX 2.1; absent: there are none. */
  objects?: Record<string, unknown>[];
}

/** A version of an object (TAXII 2.1 §5.3.1). */
export interface TaxiiManifestRecord {
  /** The id of the object. */
  id: string;
  /** When it was added to the collection, or last changed. */
  date_added: string;
  /** Its version: when it was modified. */
  version: string;
  /** Its media type. */
  media_type: string;
}

/** What a collection has, without the objects (TAXII 2.1 §5.3.1). */
export interface TaxiiManifest {
  /** Whether there is more; absent: no. */
  more?: boolean;
  /** The parameter `next` of the request for the rest. */
  next?: string;
  /** Absent: there are none. */
  objects?: TaxiiManifestRecord[];
}

/** The versions of an object (TAXII 2.1 §5.8.1): one of each is kept. */
export interface TaxiiVersions {
  /** Whether there is more; absent: no. */
  more?: boolean;
  /** Absent: there are none. */
  versions?: string[];
}

/** Every error has this body (TAXII 2.1 §3.6.1). */
export interface TaxiiError {
  /** What is wrong, for a person. */
  title: string;
  /** The id of the request, by which the log has it. */
  error_id: string;
  /** What is wrong, for a program. Stable. */
  error_code: string;
  /** The status of the response. */
  http_status: string;
}

/**
 * Kind of observable: an address, domain or URL, the hash of a file (MD5, SHA1, SHA256), an e-mail address, a
 * vulnerability (CVE), a Bitcoin address, a Windows registry key, a mutex, a file name, an HTTP user agent,
 * or an autonomous system (ASN).
 */
export type IndicatorType = "IPV4" | "IPV6" | "DOMAIN" | "URL" | "MD5" | "SHA1" | "SHA256" | "EMAIL" | "CVE" | "BTC_ADDRESS" | "REGISTRY_KEY" | "MUTEX" | "FILENAME" | "USER_AGENT" | "ASN";

/** How much harm the indicator stands for, from INFO to CRITICAL. */
export type Severity = "INFO" | "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";

/**
 * Sharing marking of TLP 2.0 (FIRST), from the widest to the narrowest audience. AMBER_STRICT is
 * TLP:AMBER+STRICT.
 */
export type Tlp = "CLEAR" | "GREEN" | "AMBER" | "AMBER_STRICT" | "RED";

/** Judgement by score: MALICIOUS from 70, SUSPICIOUS from 30, BENIGN below, UNKNOWN without a score. */
export type Verdict = "UNKNOWN" | "BENIGN" | "SUSPICIOUS" | "MALICIOUS";

/** Why the threat actor acts. */
export type Motivation = "ESPIONAGE" | "FINANCIAL" | "HACKTIVISM" | "DESTRUCTION" | "INFORMATION_OPS" | "UNKNOWN";

/** How capable the threat actor is, from MINIMAL to STRATEGIC. */
export type Sophistication = "MINIMAL" | "INTERMEDIATE" | "ADVANCED" | "EXPERT" | "STRATEGIC";

/** State of a campaign. */
export type CampaignStatus = "SUSPECTED" | "ACTIVE" | "DORMANT" | "CONCLUDED";

/**
 * Rules for the indicators of the actor or campaign, Tipline’s own rules for its techniques, or those of the
 * community.
 */
export type SigmaSource = "indicators" | "own" | "community";

/** Level of a Sigma rule. */
export type SigmaLevel = "informational" | "low" | "medium" | "high" | "critical";

/** Status of a Sigma rule that is in use. */
export type SigmaStatus = "stable" | "test" | "experimental";

/**
 * A language of queries: Splunk’s SPL, KQL for Microsoft Sentinel or Defender XDR, Elastic’s ES|QL, or Lucene
 * for Elasticsearch and OpenSearch.
 */
export type SigmaQueryLanguage = "splunk-spl" | "sentinel-kql" | "defender-kql" | "elastic-esql" | "elastic-lucene";

/**
 * Why a rule is not converted: the product has no table for its log source or no counterpart of a field; it
 * searches whole events for words; the language cannot compare a value, evaluate a regular expression or
 * apply a modifier; the condition or the detection does not conform to the specification; events never match;
 * there are too many comparisons; it is part of a correlation; or it has placeholders.
 */
export type SigmaUnconvertedReason = "logsource" | "field" | "keywords" | "value" | "regex" | "modifier" | "condition" | "detection" | "never" | "size" | "correlation" | "placeholder";

/** A Sigma rule as a query. */
export interface SigmaRuleQuery {
  /** The id of the rule, a UUID. */
  id: string | null;
  /** The title of the rule. */
  title: string;
  source: SigmaSource;
  /** The file of a community rule. */
  file: string | null;
  /** What the rule detects. */
  description: string | null;
  /** The authors of the rule. */
  author: string | null;
  /** The licence of the rule; null: that of its collection. */
  license: string | null;
  /** The level of the rule. */
  level: string | null;
  /** The status of the rule. */
  status: string | null;
  /** The tags of the rule, such as attack.t1059.001. */
  tags: string[];
  /** The log source of the rule. */
  logsource: {
    /** The product, such as windows. */
    product: string | null;
    /** The category, such as process_creation. */
    category: string | null;
    /** The service, such as security. */
    service: string | null;
  };
  /**
   * false: the names of the product for this log source are not known. The query has the rule’s own names of
   * fields, and no condition for the log source.
   */
  isMapped: boolean;
  /** The query. */
  query: string;
}

/** A Sigma rule that the language cannot express. */
export interface SigmaUnconvertedRule {
  /** The id of the rule, a UUID. */
  id: string | null;
  /** The title of the rule. */
  title: string;
  source: SigmaSource;
  /** The file of a community rule. */
  file: string | null;
  reason: SigmaUnconvertedReason;
  /** Such as the name of the field, for a person. */
  detail: string;
}

/** The Sigma rules of an actor or a campaign as queries. */
export interface SigmaRuleQueries {
  language: SigmaQueryLanguage;
  /** The rules as queries. */
  data: SigmaRuleQuery[];
  /** The rules that the language cannot express. */
  skipped: SigmaUnconvertedRule[];
  /** How many indicators no rule can express, whatever the language. */
  skippedIndicators: number;
}

/** Whether all is well with what was asked. */
export type HealthStatus = "ok" | "degraded";

/**
 * Format of an export: csv (CSV), stix (STIX 2.1 bundle), misp (MISP event), snort (Snort rules), zeek (Zeek
 * intel file), suricata (Suricata rules), txt (Plain text list), rpz (DNS RPZ), ndjson (JSON Lines), ecs
 * (Elastic Common Schema).
 */
export type ExportFormat = "csv" | "stix" | "misp" | "snort" | "zeek" | "suricata" | "txt" | "rpz" | "ndjson" | "ecs";

/**
 * The product that a list is for: any (plain), PAN-OS, FortiOS, Check Point, Wazuh CDB lists, lookups of
 * Splunk Enterprise Security, reference sets of QRadar, or a file for nft, ipset, RouterOS, nginx, dnsmasq,
 * unbound or Squid, or hosts(5); or an archive of rules with lists, for Suricata (datasets), Suricata 8
 * (datasets-ndjson) or Snort (reputation).
 */
export type ExportStyle = "plain" | "paloalto" | "fortinet" | "checkpoint" | "wazuh" | "splunk" | "nftables" | "ipset" | "mikrotik" | "nginx" | "hosts" | "dnsmasq" | "unbound" | "squid" | "postfix" | "clamav" | "qradar" | "datasets" | "datasets-ndjson" | "reputation";

/** The kind of group that each event of a MISP export has: a source, campaign, report or range of numbers. */
export type MispGroup = "source" | "campaign" | "report" | "number";

/** Which ids the objects of an export have: Tipline’s, or those of the sources’ objects. */
export type ExportIds = "own" | "original";

/** The kind of group that each event of a MISP feed has: a source, campaign or report. */
export type FeedGroup = "source" | "campaign" | "report";

/** The query of {@link Operations.getHealth}. */
export interface GetHealthQuery {
  /** Ask the dependencies too. */
  deep?: "1" | undefined;
}

/** The query of {@link Operations.listIndicators}. */
export interface ListIndicatorsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
  /**
   * Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
   * `hxxp://evil[.]example` also finds `http://evil.example`.
   */
  q?: string | undefined;
  /** Of this type. */
  type?: IndicatorType | undefined;
  /** Of this severity. */
  severity?: Severity | undefined;
  /** Exactly this tag. */
  tag?: string | undefined;
  /** Linked to this actor. */
  actorId?: string | undefined;
  /** Linked to this campaign. */
  campaignId?: string | undefined;
  /** Confidence of at least this. */
  minConfidence?: number | undefined;
  /** true: for rules and block lists; false: context only (MISP’s `to_ids: false`). */
  forDetection?: boolean | undefined;
  /** true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything else. */
  exploited?: boolean | undefined;
  /** Vulnerabilities with an EPSS score of at least this. */
  minEpss?: number | undefined;
  /** lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC). */
  since?: string | undefined;
  /** Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6. */
  types?: IndicatorType[] | undefined;
  /**
   * The newest sighting first; or the highest EPSS score first, then what has none. Faster with type=CVE.
   * Only for json.
   */
  sort?: "lastSeen" | "epss" | undefined;
}

/** The query of {@link Operations.listActorIndicators}. */
export interface ListActorIndicatorsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
  /**
   * Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
   * `hxxp://evil[.]example` also finds `http://evil.example`.
   */
  q?: string | undefined;
  /** Of this type. */
  type?: IndicatorType | undefined;
  /** Of this severity. */
  severity?: Severity | undefined;
  /** Exactly this tag. */
  tag?: string | undefined;
  /** Linked to this campaign. */
  campaignId?: string | undefined;
  /** Confidence of at least this. */
  minConfidence?: number | undefined;
  /** true: for rules and block lists; false: context only (MISP’s `to_ids: false`). */
  forDetection?: boolean | undefined;
  /** true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything else. */
  exploited?: boolean | undefined;
  /** Vulnerabilities with an EPSS score of at least this. */
  minEpss?: number | undefined;
  /** lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC). */
  since?: string | undefined;
  /** Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6. */
  types?: IndicatorType[] | undefined;
  /**
   * The newest sighting first; or the highest EPSS score first, then what has none. Faster with type=CVE.
   * Only for json.
   */
  sort?: "lastSeen" | "epss" | undefined;
}

/** The query of {@link Operations.listCampaignIndicators}. */
export interface ListCampaignIndicatorsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
  /**
   * Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
   * `hxxp://evil[.]example` also finds `http://evil.example`.
   */
  q?: string | undefined;
  /** Of this type. */
  type?: IndicatorType | undefined;
  /** Of this severity. */
  severity?: Severity | undefined;
  /** Exactly this tag. */
  tag?: string | undefined;
  /** Linked to this actor. */
  actorId?: string | undefined;
  /** Confidence of at least this. */
  minConfidence?: number | undefined;
  /** true: for rules and block lists; false: context only (MISP’s `to_ids: false`). */
  forDetection?: boolean | undefined;
  /** true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything else. */
  exploited?: boolean | undefined;
  /** Vulnerabilities with an EPSS score of at least this. */
  minEpss?: number | undefined;
  /** lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC). */
  since?: string | undefined;
  /** Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6. */
  types?: IndicatorType[] | undefined;
  /**
   * The newest sighting first; or the highest EPSS score first, then what has none. Faster with type=CVE.
   * Only for json.
   */
  sort?: "lastSeen" | "epss" | undefined;
}

/** The query of {@link Operations.exportIndicators}. */
export interface ExportIndicatorsQuery {
  /**
   * Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
   * `hxxp://evil[.]example` also finds `http://evil.example`.
   */
  q?: string | undefined;
  /** Of this type. */
  type?: IndicatorType | undefined;
  /** Of this severity. */
  severity?: Severity | undefined;
  /** Exactly this tag. */
  tag?: string | undefined;
  /** Linked to this actor. */
  actorId?: string | undefined;
  /** Linked to this campaign. */
  campaignId?: string | undefined;
  /** Confidence of at least this. */
  minConfidence?: number | undefined;
  /** true: for rules and block lists; false: context only (MISP’s `to_ids: false`). */
  forDetection?: boolean | undefined;
  /** true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything else. */
  exploited?: boolean | undefined;
  /** Vulnerabilities with an EPSS score of at least this. */
  minEpss?: number | undefined;
  /** lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC). */
  since?: string | undefined;
  /** Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6. */
  types?: IndicatorType[] | undefined;
  /** csv: whether cells that a spreadsheet would run as a formula get an apostrophe in front (on). */
  csvGuard?: "on" | "off" | undefined;
  /**
   * txt: the product that the list is for (plain). suricata: datasets or datasets-ndjson, snort: reputation:
   * a zip archive of rules with lists, for many indicators.
   */
  style?: ExportStyle | undefined;
  /**
   * At most so many indicators, and lines of a txt list, for a product that takes no more: those that come
   * first in `order`.
   */
  limit?: number | undefined;
  /** With limit: the highest confidence first (confidence), or the newest sighting. */
  order?: "confidence" | "newest" | undefined;
  /** txt: whether adjacent addresses are joined into networks (on, where the style takes networks). */
  collapse?: "on" | "off" | undefined;
  /**
   * txt, lists of domains for paloalto and fortinet: whether each domain also has a line with `*.` in front
   * (on).
   */
  wildcards?: "on" | "off" | undefined;
  /**
   * stix, misp: with the actors, campaigns, malware and techniques that the indicators are linked to; stix:
   * and with the reports.
   */
  include?: "context" | undefined;
  /**
   * misp: one event for each source, campaign, report or range of numbers, as `{"response": [{"Event": …}]}`;
   * an indicator is in each of its events.
   */
  group?: MispGroup | undefined;
  /**
   * stix, misp: Tipline’s ids (own), or those of the sources’ objects and attributes where one gives exactly
   * one indicator.
   */
  ids?: ExportIds | undefined;
  /** Only this page of the list. */
  page?: number | undefined;
  /** Indicators on that page (100). */
  pageSize?: number | undefined;
}

/** The query of {@link Operations.listIndicatorChanges}. */
export interface ListIndicatorChangesQuery {
  /**
   * Case-insensitive substring of the normalized value, literally (no wildcards) or refanged:
   * `hxxp://evil[.]example` also finds `http://evil.example`.
   */
  q?: string | undefined;
  /** Of this type. */
  type?: IndicatorType | undefined;
  /** Of this severity. */
  severity?: Severity | undefined;
  /** Exactly this tag. */
  tag?: string | undefined;
  /** Linked to this actor. */
  actorId?: string | undefined;
  /** Linked to this campaign. */
  campaignId?: string | undefined;
  /** Confidence of at least this. */
  minConfidence?: number | undefined;
  /** true: for rules and block lists; false: context only (MISP’s `to_ids: false`). */
  forDetection?: boolean | undefined;
  /** true: vulnerabilities in CISA’s catalogue of known exploited ones; false: everything else. */
  exploited?: boolean | undefined;
  /** Vulnerabilities with an EPSS score of at least this. */
  minEpss?: number | undefined;
  /** lastSeen at or after this instant (ISO 8601, with a time zone; or a date, UTC). */
  since?: string | undefined;
  /** Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6. */
  types?: IndicatorType[] | undefined;
  /**
   * How many changes a response has. Changes of what was given in earlier pages come in addition, so that a
   * response may have more.
   */
  limit?: number | undefined;
  /**
   * Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the filters, which may
   * be left out with it. Without one, everything that matches comes first.
   */
  cursor?: string | undefined;
  /** If there are no changes, the response waits for them for up to so many seconds. */
  wait?: number | undefined;
}

/** The query of {@link Operations.lookUpValues}. */
export interface LookUpValuesQuery {
  /**
   * The values, repeated: value=a&value=b. Each is read by its form, plain or defanged; commas are part of
   * it.
   */
  value: string[];
  /** Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6. */
  types?: IndicatorType[] | undefined;
  /** Only indicators with at least this confidence. */
  minConfidence?: number | undefined;
  /**
   * false: only the value itself, not other hashes of the same file, networks around it, domains above it,
   * the host or prefixes of a URL.
   */
  related?: boolean | undefined;
}

/** The query of {@link Operations.lookUpManyValues}. */
export interface LookUpManyValuesQuery {
  /** Of any of these types: types=IPV4&types=IPV6 or types=IPV4,IPV6. */
  types?: IndicatorType[] | undefined;
  /** Only indicators with at least this confidence. */
  minConfidence?: number | undefined;
  /**
   * false: only the value itself, not other hashes of the same file, networks around it, domains above it,
   * the host or prefixes of a URL.
   */
  related?: boolean | undefined;
  /** true: the body is a text, such as a report, and each observable in it is looked up once. */
  extract?: boolean | undefined;
}

/** The query of {@link Operations.readFeed}. */
export interface ReadFeedQuery {
  /** Instead of its own, for the same indicators as far as the format can express them. */
  format?: ExportFormat | undefined;
}

/** The query of {@link Operations.listFeedChanges}. */
export interface ListFeedChangesQuery {
  /**
   * How many changes a response has. Changes of what was given in earlier pages come in addition, so that a
   * response may have more.
   */
  limit?: number | undefined;
  /**
   * Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the filters, which may
   * be left out with it. Without one, everything that matches comes first.
   */
  cursor?: string | undefined;
  /** If there are no changes, the response waits for them for up to so many seconds. */
  wait?: number | undefined;
}

/** The query of {@link Operations.listTaxiiObjects}. */
export interface ListTaxiiObjectsQuery {
  /** Only objects that were added later, such as X-TAXII-Date-Added-Last of the last response. */
  added_after?: string | undefined;
  /** The maximum number of objects: 1000 if it is absent, never more than 5000. */
  limit?: number | undefined;
  /** Of the last response: goes on after it, with its filters. */
  next?: string | undefined;
  /** Only objects with these ids; several with commas. */
  "match[id]"?: string | undefined;
  /** Only objects of these types; several with commas. */
  "match[type]"?: string | undefined;
  /** Only these versions: first, last, all (of each object there is one) or timestamps; several with commas. */
  "match[version]"?: string | undefined;
  /** Only objects of these versions of STIX; several with commas. */
  "match[spec_version]"?: string | undefined;
}

/** The query of {@link Operations.listTaxiiManifest}. */
export interface ListTaxiiManifestQuery {
  /** Only objects that were added later, such as X-TAXII-Date-Added-Last of the last response. */
  added_after?: string | undefined;
  /** The maximum number of objects: 1000 if it is absent, never more than 5000. */
  limit?: number | undefined;
  /** Of the last response: goes on after it, with its filters. */
  next?: string | undefined;
  /** Only objects with these ids; several with commas. */
  "match[id]"?: string | undefined;
  /** Only objects of these types; several with commas. */
  "match[type]"?: string | undefined;
  /** Only these versions: first, last, all (of each object there is one) or timestamps; several with commas. */
  "match[version]"?: string | undefined;
  /** Only objects of these versions of STIX; several with commas. */
  "match[spec_version]"?: string | undefined;
}

/** The query of {@link Operations.getTaxiiObject}. */
export interface GetTaxiiObjectQuery {
  /** Only objects that were added later, such as X-TAXII-Date-Added-Last of the last response. */
  added_after?: string | undefined;
  /** The maximum number of objects: 1000 if it is absent, never more than 5000. */
  limit?: number | undefined;
  /** Of the last response: goes on after it, with its filters. */
  next?: string | undefined;
  /** Only these versions: first, last, all (of each object there is one) or timestamps; several with commas. */
  "match[version]"?: string | undefined;
  /** Only objects of these versions of STIX; several with commas. */
  "match[spec_version]"?: string | undefined;
}

/** The query of {@link Operations.listTaxiiVersions}. */
export interface ListTaxiiVersionsQuery {
  /** Only objects that were added later, such as X-TAXII-Date-Added-Last of the last response. */
  added_after?: string | undefined;
  /** The maximum number of objects: 1000 if it is absent, never more than 5000. */
  limit?: number | undefined;
  /** Of the last response: goes on after it, with its filters. */
  next?: string | undefined;
  /** Only objects of these versions of STIX; several with commas. */
  "match[spec_version]"?: string | undefined;
}

/** The query of {@link Operations.getSigmaNavigatorLayer}. */
export interface GetSigmaNavigatorLayerQuery {
  /** Rules of these sources: Tipline’s own, or those of the community. Repeated or with commas. */
  source?: Array<"own" | "community"> | undefined;
  /** Rules of these levels. Repeated or with commas. */
  level?: SigmaLevel[] | undefined;
  /** Rules of these statuses. Repeated or with commas. */
  status?: SigmaStatus[] | undefined;
  /** Rules of this product, category or service, or of several at once: `windows/process_creation`. */
  logsource?: string | undefined;
}

/** The query of {@link Operations.getActorSigma}. */
export interface GetActorSigmaQuery {
  /** Of indicators: confidence of at least this. */
  minConfidence?: number | undefined;
  /** Rules of these sources. Repeated or with commas. */
  source?: SigmaSource[] | undefined;
  /** Rules of these levels. Repeated or with commas. */
  level?: SigmaLevel[] | undefined;
  /** Rules of these statuses. Repeated or with commas. */
  status?: SigmaStatus[] | undefined;
  /** Rules of this product, category or service, or of several at once: `windows/process_creation`. */
  logsource?: string | undefined;
}

/** The query of {@link Operations.getActorSigmaQueries}. */
export interface GetActorSigmaQueriesQuery {
  /** Of indicators: confidence of at least this. */
  minConfidence?: number | undefined;
  /** Rules of these sources. Repeated or with commas. */
  source?: SigmaSource[] | undefined;
  /** Rules of these levels. Repeated or with commas. */
  level?: SigmaLevel[] | undefined;
  /** Rules of these statuses. Repeated or with commas. */
  status?: SigmaStatus[] | undefined;
  /** Rules of this product, category or service, or of several at once: `windows/process_creation`. */
  logsource?: string | undefined;
  /** The language of the queries. */
  language: SigmaQueryLanguage;
}

/** The query of {@link Operations.getCampaignSigma}. */
export interface GetCampaignSigmaQuery {
  /** Of indicators: confidence of at least this. */
  minConfidence?: number | undefined;
  /** Rules of these sources. Repeated or with commas. */
  source?: SigmaSource[] | undefined;
  /** Rules of these levels. Repeated or with commas. */
  level?: SigmaLevel[] | undefined;
  /** Rules of these statuses. Repeated or with commas. */
  status?: SigmaStatus[] | undefined;
  /** Rules of this product, category or service, or of several at once: `windows/process_creation`. */
  logsource?: string | undefined;
}

/** The query of {@link Operations.getCampaignSigmaQueries}. */
export interface GetCampaignSigmaQueriesQuery {
  /** Of indicators: confidence of at least this. */
  minConfidence?: number | undefined;
  /** Rules of these sources. Repeated or with commas. */
  source?: SigmaSource[] | undefined;
  /** Rules of these levels. Repeated or with commas. */
  level?: SigmaLevel[] | undefined;
  /** Rules of these statuses. Repeated or with commas. */
  status?: SigmaStatus[] | undefined;
  /** Rules of this product, category or service, or of several at once: `windows/process_creation`. */
  logsource?: string | undefined;
  /** The language of the queries. */
  language: SigmaQueryLanguage;
}

/** The query of {@link Operations.listActorChanges}. */
export interface ListActorChangesQuery {
  /** Only actors that are (not) active. */
  active?: boolean | undefined;
  /**
   * Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the filters, which may
   * be left out with it. Without one, everything that matches comes first.
   */
  cursor?: string | undefined;
  /** If there are no changes, the response waits for them for up to so many seconds. */
  wait?: number | undefined;
}

/** The query of {@link Operations.listActors}. */
export interface ListActorsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
  /** Only actors that are (not) active. */
  active?: boolean | undefined;
  /** Case-insensitive substring of the name, of an alias or of the ATT&CK id, literally (no wildcards). */
  q?: string | undefined;
  /** Only actors that use the technique, malware or tool with this name or ATT&CK id, ignoring case. */
  uses?: string | undefined;
}

/** The query of {@link Operations.listCampaignChanges}. */
export interface ListCampaignChangesQuery {
  /** In this state. */
  status?: CampaignStatus | undefined;
  /**
   * Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the filters, which may
   * be left out with it. Without one, everything that matches comes first.
   */
  cursor?: string | undefined;
  /** If there are no changes, the response waits for them for up to so many seconds. */
  wait?: number | undefined;
}

/** The query of {@link Operations.listCampaigns}. */
export interface ListCampaignsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
  /** In this state. */
  status?: CampaignStatus | undefined;
  /** Case-insensitive substring of the name or of an alias, literally (no wildcards). */
  q?: string | undefined;
}

/** The query of {@link Operations.listActorCampaigns}. */
export interface ListActorCampaignsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
  /** In this state. */
  status?: CampaignStatus | undefined;
  /** Case-insensitive substring of the name or of an alias, literally (no wildcards). */
  q?: string | undefined;
}

/** The query of {@link Operations.listCampaignActors}. */
export interface ListCampaignActorsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
  /** Only actors that are (not) active. */
  active?: boolean | undefined;
  /** Case-insensitive substring of the name, of an alias or of the ATT&CK id, literally (no wildcards). */
  q?: string | undefined;
  /** Only actors that use the technique, malware or tool with this name or ATT&CK id, ignoring case. */
  uses?: string | undefined;
}

/** The query of {@link Operations.listActorReports}. */
export interface ListActorReportsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
}

/** The query of {@link Operations.listActorTechniques}. */
export interface ListActorTechniquesQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
}

/** The query of {@link Operations.listCampaignReports}. */
export interface ListCampaignReportsQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
}

/** The query of {@link Operations.listCampaignTechniques}. */
export interface ListCampaignTechniquesQuery {
  /** Page number. */
  page?: number | undefined;
  /** Items on a page. */
  pageSize?: number | undefined;
}
