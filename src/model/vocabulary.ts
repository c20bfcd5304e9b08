/** The closed vocabularies of the API, each from least to most where the order means something. */

export const INDICATOR_TYPES = [
  'IPV4',
  'IPV6',
  'DOMAIN',
  'URL',
  'MD5',
  'SHA1',
  'SHA256',
  'EMAIL',
  'CVE',
  'BTC_ADDRESS',
  'REGISTRY_KEY',
  'MUTEX',
  'FILENAME',
  'USER_AGENT',
  'ASN',
] as const;
export type IndicatorType = (typeof INDICATOR_TYPES)[number];

/** The types that are hashes, of a file unless stated otherwise; the strongest first. */
export const FILE_HASHES = ['SHA256', 'SHA1', 'MD5'] as const satisfies IndicatorType[];

export const isFileHash = (type: string | null): boolean =>
  (FILE_HASHES as readonly (string | null)[]).includes(type);

export const SEVERITIES = ['INFO', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** TLP 2.0 (FIRST), from the widest to the narrowest audience. */
export const TLPS = ['CLEAR', 'GREEN', 'AMBER', 'AMBER_STRICT', 'RED'] as const;
export type Tlp = (typeof TLPS)[number];

export const MOTIVATIONS = [
  'ESPIONAGE',
  'FINANCIAL',
  'HACKTIVISM',
  'DESTRUCTION',
  'INFORMATION_OPS',
  'UNKNOWN',
] as const;
export type Motivation = (typeof MOTIVATIONS)[number];

export const SOPHISTICATIONS = ['MINIMAL', 'INTERMEDIATE', 'ADVANCED', 'EXPERT', 'STRATEGIC'] as const;
export type Sophistication = (typeof SOPHISTICATIONS)[number];

export const CAMPAIGN_STATUSES = ['SUSPECTED', 'ACTIVE', 'DORMANT', 'CONCLUDED'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const VERDICTS = ['UNKNOWN', 'BENIGN', 'SUSPICIOUS', 'MALICIOUS'] as const;
export type Verdict = (typeof VERDICTS)[number];

const ENTITY_KINDS = [
  'indicator',
  'actor',
  'campaign',
  'technique',
  'software',
  'report',
  'attribute',
] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];

/** `refers-to` joins a report, or a note, to what it is about; the others are STIX relationship types. */
export type RelationshipType = 'indicates' | 'attributed-to' | 'uses' | 'refers-to';
