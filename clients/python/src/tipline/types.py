# Written by scripts/clients.mjs from openapi/openapi.json: npm run openapi.
"""The documents of the API, as dictionaries."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

# Kind of observable: an address, domain or URL, the hash of a file (MD5, SHA1, SHA256), an e-mail address, a
# vulnerability (CVE), a Bitcoin address, a Windows registry key, a mutex, a file name, an HTTP user agent, or
# an autonomous system (ASN).
IndicatorType = Literal["IPV4", "IPV6", "DOMAIN", "URL", "MD5", "SHA1", "SHA256", "EMAIL", "CVE", "BTC_ADDRESS", "REGISTRY_KEY", "MUTEX", "FILENAME", "USER_AGENT", "ASN"]

# How much harm the indicator stands for, from INFO to CRITICAL.
Severity = Literal["INFO", "LOW", "MEDIUM", "HIGH", "CRITICAL"]

# Sharing marking of TLP 2.0 (FIRST), from the widest to the narrowest audience. AMBER_STRICT is
# TLP:AMBER+STRICT.
Tlp = Literal["CLEAR", "GREEN", "AMBER", "AMBER_STRICT", "RED"]

# Judgement by score: MALICIOUS from 70, SUSPICIOUS from 30, BENIGN below, UNKNOWN without a score.
Verdict = Literal["UNKNOWN", "BENIGN", "SUSPICIOUS", "MALICIOUS"]

# Why the threat actor acts.
Motivation = Literal["ESPIONAGE", "FINANCIAL", "HACKTIVISM", "DESTRUCTION", "INFORMATION_OPS", "UNKNOWN"]

# How capable the threat actor is, from MINIMAL to STRATEGIC.
Sophistication = Literal["MINIMAL", "INTERMEDIATE", "ADVANCED", "EXPERT", "STRATEGIC"]

# State of a campaign.
CampaignStatus = Literal["SUSPECTED", "ACTIVE", "DORMANT", "CONCLUDED"]

# Rules for the indicators of the actor or campaign, Tipline’s own rules for its techniques, or those of the
# community.
SigmaSource = Literal["indicators", "own", "community"]

# Level of a Sigma rule.
SigmaLevel = Literal["informational", "low", "medium", "high", "critical"]

# Status of a Sigma rule that is in use.
SigmaStatus = Literal["stable", "test", "experimental"]

# A language of queries: Splunk’s SPL, KQL for Microsoft Sentinel or Defender XDR, Elastic’s ES|QL, or Lucene
# for Elasticsearch and OpenSearch.
SigmaQueryLanguage = Literal["splunk-spl", "sentinel-kql", "defender-kql", "elastic-esql", "elastic-lucene"]

# Why a rule is not converted: the product has no table for its log source or no counterpart of a field; it
# searches whole events for words; the language cannot compare a value, evaluate a regular expression or apply
# a modifier; the condition or the detection does not conform to the specification; events never match; there
# are too many comparisons; it is part of a correlation; or it has placeholders.
SigmaUnconvertedReason = Literal["logsource", "field", "keywords", "value", "regex", "modifier", "condition", "detection", "never", "size", "correlation", "placeholder"]

# Whether all is well with what was asked.
HealthStatus = Literal["ok", "degraded"]

# Format of an export: csv (CSV), stix (STIX 2.1 bundle), misp (MISP event), snort (Snort rules), zeek (Zeek
# intel file), suricata (Suricata rules), txt (Plain text list), rpz (DNS RPZ), ndjson (JSON Lines), ecs
# (Elastic Common Schema).
ExportFormat = Literal["csv", "stix", "misp", "snort", "zeek", "suricata", "txt", "rpz", "ndjson", "ecs"]

# The product that a list is for: any (plain), PAN-OS, FortiOS, Check Point, Wazuh CDB lists, lookups of
# Splunk Enterprise Security, reference sets of QRadar, or a file for nft, ipset, RouterOS, nginx, dnsmasq,
# unbound or Squid, or hosts(5); or an archive of rules with lists, for Suricata (datasets), Suricata 8
# (datasets-ndjson) or Snort (reputation).
ExportStyle = Literal["plain", "paloalto", "fortinet", "checkpoint", "wazuh", "splunk", "nftables", "ipset", "mikrotik", "nginx", "hosts", "dnsmasq", "unbound", "squid", "postfix", "clamav", "qradar", "datasets", "datasets-ndjson", "reputation"]

# The kind of group that each event of a MISP export has: a source, campaign, report or range of numbers.
MispGroup = Literal["source", "campaign", "report", "number"]

# Which ids the objects of an export have: Tipline’s, or those of the sources’ objects.
ExportIds = Literal["own", "original"]

# The kind of group that each event of a MISP feed has: a source, campaign or report.
FeedGroup = Literal["source", "campaign", "report"]


class _HealthChecksDatabaseRequired(TypedDict):
    status: HealthStatus
    # How long it took to answer, in milliseconds.
    latencyMs: float


class HealthChecksDatabase(_HealthChecksDatabaseRequired, total=False):
    """The relational database."""

    # What is wrong with it, where something is.
    message: str


class _HealthChecksKeyValueStoreRequired(TypedDict):
    status: HealthStatus
    # How long it took to answer, in milliseconds.
    latencyMs: float


class HealthChecksKeyValueStore(_HealthChecksKeyValueStoreRequired, total=False):
    """The key-value store, which counts requests."""

    # What is wrong with it, where something is.
    message: str


class HealthChecks(TypedDict):
    """What was asked with deep=1."""

    # The relational database.
    database: HealthChecksDatabase
    # The key-value store, which counts requests.
    keyValueStore: HealthChecksKeyValueStore


class _HealthRequired(TypedDict):
    status: HealthStatus
    # Always tipline.
    service: str
    # The version of the service.
    version: str
    # For how long the process has been running.
    uptimeSeconds: int
    # The time of this answer.
    timestamp: str


class Health(_HealthRequired, total=False):
    """The state of this process and, when asked, of what it depends on."""

    # What was asked with deep=1.
    checks: HealthChecks


class IndicatorEpss(TypedDict):
    """Of a CVE id: its EPSS score (FIRST); null: none is known."""

    # The probability that it is exploited within 30 days.
    score: float
    # The share of all vulnerabilities with the same or a lower score.
    percentile: float
    # The first day of the published scores on which both had these values.
    date: str


class IndicatorKev(TypedDict):
    """Of a CVE id: its entry in CISA’s catalogue of known exploited vulnerabilities; null: it has none, or no
    source has the catalogue.
    """

    # When it was added to the catalogue.
    dateAdded: Optional[str]
    # Until when agencies of the United States must act.
    dueDate: Optional[str]
    # Whether ransomware campaigns are known to use it; false: not known.
    knownRansomware: bool
    # What to do.
    requiredAction: Optional[str]


class _IndicatorRequired(TypedDict):
    # Stable: derived from type and normalized value.
    id: str
    type: IndicatorType
    # The observable.
    value: str
    # That it is malicious, 0 to 100: pinned by an analyst, or the highest of providers’ scores, or the
    # source’s.
    confidence: int
    severity: Severity
    tlp: Tlp
    # Free text of the sources, sorted.
    tags: List[str]
    # The source whose confidence decides.
    source: Optional[str]
    # When it was first seen, as its sources say.
    firstSeen: str
    # When it was last seen, as its sources say.
    lastSeen: str
    # Not returned from this instant on; null: never.
    expiresAt: Optional[str]
    # Whether it may be used for detection and blocking; false: its sources give it as context only, such as
    # MISP’s `to_ids: false`.
    forDetection: bool


class Indicator(_IndicatorRequired, total=False):
    """An observable, and what its sources say of it."""

    # Of a CVE id: its EPSS score (FIRST); null: none is known.
    epss: Optional[IndicatorEpss]
    # Of a CVE id: its entry in CISA’s catalogue of known exploited vulnerabilities; null: it has none, or no
    # source has the catalogue.
    kev: Optional[IndicatorKev]


class IndicatorList(TypedDict):
    """A page of a list."""

    # The items of the page.
    data: List[Indicator]
    # The page returned.
    page: int
    # The page size used.
    pageSize: int
    # How many items match, on all pages together.
    total: int


class IndicatorItem(TypedDict):
    """One item."""

    data: Indicator


class IndicatorContextEpss(TypedDict):
    """Of a CVE id: its EPSS score (FIRST); null: none is known."""

    # The probability that it is exploited within 30 days.
    score: float
    # The share of all vulnerabilities with the same or a lower score.
    percentile: float
    # The first day of the published scores on which both had these values.
    date: str


class IndicatorContextKev(TypedDict):
    """Of a CVE id: its entry in CISA’s catalogue of known exploited vulnerabilities; null: it has none, or no
    source has the catalogue.
    """

    # When it was added to the catalogue.
    dateAdded: Optional[str]
    # Until when agencies of the United States must act.
    dueDate: Optional[str]
    # Whether ransomware campaigns are known to use it; false: not known.
    knownRansomware: bool
    # What to do.
    requiredAction: Optional[str]


class IndicatorContextSource(TypedDict):
    """The source whose confidence decides."""

    # Its name.
    name: str
    # How it came: a file, a feed, or by hand.
    type: str


class IndicatorContextEnrichmentSummary(TypedDict):
    """The providers’ answers, taken together."""

    # From the highest score: 70 and over MALICIOUS, 30 and over SUSPICIOUS, under it BENIGN, none UNKNOWN.
    verdict: Verdict
    # The highest score; null: no provider gave one.
    maxScore: Optional[int]
    # Providers that did not fail.
    providerCount: int
    # Whether every answer counted is fresh.
    fresh: bool


class IndicatorContextEnrichment(TypedDict):
    """What a provider answered about the indicator."""

    # The queried provider.
    provider: str
    # By its score alone.
    verdict: Verdict
    # Its score, 0 to 100; null: it gave none.
    score: Optional[int]
    # Not older than the provider’s answers are good for.
    fresh: bool
    # When the provider responded.
    fetchedAt: str
    # Until when the answer is fresh.
    expiresAt: str
    # Why there is no judgement: the provider failed.
    error: Optional[str]
    # The raw response of the provider.
    raw: Any


class IndicatorContextActor(TypedDict):
    # Its id here.
    id: str
    # The name.
    name: str
    # The name in lower case, digits and hyphens.
    slug: str
    # ATT&CK group id, such as G0016.
    attackGroupId: Optional[str]
    # ISO 3166-1 alpha-2.
    country: Optional[str]
    motivation: Motivation
    # False when retired by its source or last seen over two years ago.
    active: bool
    # That it is what it is said to be, 0 to 100.
    confidence: int


class IndicatorContextCampaign(TypedDict):
    # Its id here.
    id: str
    # The name.
    name: str
    # The name in lower case, digits and hyphens.
    slug: str
    status: CampaignStatus
    # That it is what it is said to be, 0 to 100.
    confidence: int


class IndicatorContextReport(TypedDict):
    # Its id here.
    id: str
    # The title.
    title: str
    # The name in lower case, digits and hyphens.
    slug: str
    # When it was published; null: not known.
    publishedAt: Optional[str]
    tlp: Tlp
    # Free text of the sources, sorted.
    tags: List[str]
    # That it is what it is said to be, 0 to 100.
    confidence: int
    # Its text.
    description: Optional[str]
    # Persons and organisations.
    authors: List[str]
    # Addresses that it gives.
    links: List[str]


class IndicatorContextRecordKillChainPhase(TypedDict):
    # Such as lockheed-martin-cyber-kill-chain.
    chain: str
    # Such as delivery.
    phase: str


class IndicatorContextRecordObject(TypedDict):
    """The MISP object that it is part of."""

    # Its UUID.
    id: str
    # Of its template, such as file.
    name: str
    # The part in it, such as filename.
    relation: Optional[str]


class IndicatorContextRecord(TypedDict):
    """A STIX object or a MISP attribute about it."""

    # The name of the source.
    source: str
    # The record’s id in its source.
    id: Optional[str]
    # When the source last stated it.
    statedAt: Optional[str]
    # Its name there.
    name: Optional[str]
    # Its description or comment.
    description: Optional[str]
    # Whether attacks come from it or go to it, where the source says so.
    direction: Literal["source", "destination", None]
    # MISP’s type of attribute.
    type: Optional[str]
    # MISP’s category.
    category: Optional[str]
    # The value there, where it has more than this indicator, such as a port.
    original: Optional[str]
    # Steps of an attack.
    killChainPhases: List[IndicatorContextRecordKillChainPhase]
    # The MISP object that it is part of.
    object: Optional[IndicatorContextRecordObject]


class IndicatorContextAttributeKillChainPhase(TypedDict):
    # Such as lockheed-martin-cyber-kill-chain.
    chain: str
    # Such as delivery.
    phase: str


class IndicatorContextAttributeObject(TypedDict):
    """The MISP object that it is part of."""

    # Its UUID.
    id: str
    # Of its template, such as file.
    name: str
    # The part in it, such as filename.
    relation: Optional[str]


class IndicatorContextAttribute(TypedDict):
    """A rule, hash, text or other statement of a source that is no indicator."""

    # Its id here.
    id: str
    # MISP’s type, or note or stix-pattern.
    type: str
    # The value or text.
    value: str
    # The name.
    name: Optional[str]
    # The description or comment.
    description: Optional[str]
    # MISP’s category.
    category: Optional[str]
    # Steps of an attack.
    killChainPhases: List[IndicatorContextAttributeKillChainPhase]
    # The MISP object that it is part of.
    object: Optional[IndicatorContextAttributeObject]
    tlp: Tlp


class _IndicatorContextRequired(TypedDict):
    # Stable: derived from type and normalized value.
    id: str
    type: IndicatorType
    # The observable.
    value: str
    # The value, safe to paste.
    defanged: str
    # The form that `q` is compared with.
    normalizedValue: str
    # Of a network: the whitelisted addresses and networks within. Of a domain: the whitelisted names below,
    # `=name` without and `*.name` as those below it alone. They must not be blocked; lists and rules leave
    # them out.
    whitelistedParts: List[str]
    # When it was first seen, as its sources say.
    firstSeen: str
    # When it was last seen, as its sources say.
    lastSeen: str
    # Not returned from this instant on; null: never.
    expiresAt: Optional[str]
    severity: Severity
    # That it is malicious, 0 to 100: pinned by an analyst, or the highest of providers’ scores, or the
    # source’s.
    confidence: int
    # An analyst has pinned the confidence.
    confidenceLocked: bool
    tlp: Tlp
    # Free text of the sources, sorted.
    tags: List[str]
    # Whether it may be used for detection and blocking; false: its sources give it as context only, such as
    # MISP’s `to_ids: false`.
    forDetection: bool
    # The source whose confidence decides.
    source: IndicatorContextSource
    # The providers’ answers, taken together.
    enrichmentSummary: IndicatorContextEnrichmentSummary
    # The providers’ answers.
    enrichments: List[IndicatorContextEnrichment]
    # The threat actors that it is linked to.
    actors: List[IndicatorContextActor]
    # The campaigns that it is linked to.
    campaigns: List[IndicatorContextCampaign]
    # The reports that refer to it.
    reports: List[IndicatorContextReport]
    # The statements of its sources’ records, as the sources wrote them.
    records: List[IndicatorContextRecord]
    # Related statements of its sources that are no indicators, at most 200: notes, and the other parts of its
    # MISP objects.
    attributes: List[IndicatorContextAttribute]


class IndicatorContext(_IndicatorContextRequired, total=False):
    """All that is known about one indicator."""

    # Of a CVE id: its EPSS score (FIRST); null: none is known.
    epss: Optional[IndicatorContextEpss]
    # Of a CVE id: its entry in CISA’s catalogue of known exploited vulnerabilities; null: it has none, or no
    # source has the catalogue.
    kev: Optional[IndicatorContextKev]


class IndicatorChangesChangeUpsert(TypedDict):
    # The indicator is new, or has changed.
    op: Literal["upsert"]
    indicator: Indicator


class IndicatorChangesChangeRemove(TypedDict):
    # It has expired, is whitelisted, is above the ceiling of the key, or does not match the filters any more;
    # or, in a saved feed with a limit, another one has taken its place.
    op: Literal["remove"]
    # The id of the indicator.
    id: str
    # Its type.
    type: IndicatorType
    # The observable.
    value: str


class IndicatorChanges(TypedDict):
    """Changes of a list of indicators."""

    # In the order in which they were made; of a saved feed with a limit, by id.
    changes: List[Union[IndicatorChangesChangeUpsert, IndicatorChangesChangeRemove]]
    # For the next request. It is the one of the request if nothing has changed.
    cursor: str
    # More changes follow at once.
    hasMore: bool


class LookupResultMatche(TypedDict):
    # exact: the value itself. same-file: another listed hash of the file, by a statement of a source; at most
    # 20, SHA-256 first, then SHA-1 and MD5. in-network: a listed network around the address. parent-domain: a
    # listed domain above it. url-scheme: the URL with https instead of http, or http instead of https.
    # url-host: the host of the URL. url-prefix: a listed folder above the URL, or the URL without its query,
    # without a user name before its host, or with or without a dot after its host. email-domain: the domain
    # of the address.
    relation: Literal["exact", "same-file", "in-network", "parent-domain", "url-scheme", "url-host", "url-prefix", "email-domain"]
    indicator: Indicator


class LookupResult(TypedDict):
    """What is known about a value."""

    # The value as it was asked for.
    asked: str
    # The type as which it was read; null: it was not.
    type: Optional[IndicatorType]
    # The value as it was read, refanged and normalized.
    value: Optional[str]
    # Why it was not read; null: it was.
    reason: Optional[str]
    # Whether anything matches.
    known: bool
    # By the highest confidence of the matches that are for detection; UNKNOWN: there are none.
    verdict: Verdict
    # The indicators that say something about it, itself first.
    matches: List[LookupResultMatche]


class LookupResults(TypedDict):
    """The results of a look-up."""

    # One result for each value, in their order.
    data: List[LookupResult]


class ActorAliase(TypedDict):
    # Another name.
    alias: str
    # Who uses this name; null: not known.
    namedBy: Optional[str]


class Actor(TypedDict):
    """A threat actor."""

    # Stable: of its source, or derived from its name.
    id: str
    # The name.
    name: str
    # The name in lower case, digits and hyphens.
    slug: str
    # ATT&CK group id, such as G0016.
    attackGroupId: Optional[str]
    # The country it is said to act for, ISO 3166-1 alpha-2; null: not known.
    country: Optional[str]
    motivation: Motivation
    # How capable it is; null: not known.
    sophistication: Optional[Sophistication]
    # False when retired by its source or last seen over two years ago.
    active: bool
    # The confidence of its source, 0 to 100.
    confidence: int
    tlp: Tlp
    # Its other names.
    aliases: List[ActorAliase]


class ActorDetailAliase(TypedDict):
    # Another name.
    alias: str
    # Who uses this name; null: not known.
    namedBy: Optional[str]


class ActorDetailTechnique(TypedDict):
    # Its id here.
    id: str
    # ATT&CK id, such as T1003 or S0154.
    attackId: Optional[str]
    # The name.
    name: str
    # ATT&CK tactics by their short names, such as credential-access.
    tactics: List[str]


class ActorDetailMalware(TypedDict):
    # Its id here.
    id: str
    # ATT&CK id, such as T1003 or S0154.
    attackId: Optional[str]
    # The name.
    name: str


class ActorDetailTool(TypedDict):
    # Its id here.
    id: str
    # ATT&CK id, such as T1003 or S0154.
    attackId: Optional[str]
    # The name.
    name: str


class ActorDetail(TypedDict):
    """A threat actor with what it is known to use."""

    # Stable: of its source, or derived from its name.
    id: str
    # The name.
    name: str
    # The name in lower case, digits and hyphens.
    slug: str
    # ATT&CK group id, such as G0016.
    attackGroupId: Optional[str]
    # The country it is said to act for, ISO 3166-1 alpha-2; null: not known.
    country: Optional[str]
    motivation: Motivation
    # How capable it is; null: not known.
    sophistication: Optional[Sophistication]
    # False when retired by its source or last seen over two years ago.
    active: bool
    # The confidence of its source, 0 to 100.
    confidence: int
    tlp: Tlp
    # Its other names.
    aliases: List[ActorDetailAliase]
    # What its source says of it.
    description: Optional[str]
    # Sectors that it is known to attack.
    targetSectors: List[str]
    # Countries that it is known to attack.
    targetCountries: List[str]
    # When it was first seen; null: not known.
    firstSeen: Optional[str]
    # When it was last seen; null: not known.
    lastSeen: Optional[str]
    # The ATT&CK techniques that it uses.
    techniques: List[ActorDetailTechnique]
    # The malware that it uses.
    malware: List[ActorDetailMalware]
    # The tools that it uses.
    tools: List[ActorDetailTool]


class ActorList(TypedDict):
    """A page of a list."""

    # The items of the page.
    data: List[Actor]
    # The page returned.
    page: int
    # The page size used.
    pageSize: int
    # How many items match, on all pages together.
    total: int


class ActorItem(TypedDict):
    """One item."""

    data: ActorDetail


class ActorChangesChangeUpsert(TypedDict):
    # The actor is new, or has changed.
    op: Literal["upsert"]
    actor: Actor


class ActorChangesChangeRemove(TypedDict):
    # It is withdrawn, above the ceiling of the key, or does not match the filters any more.
    op: Literal["remove"]
    # Its id.
    id: str
    # Its name.
    name: str


class ActorChanges(TypedDict):
    """Changes of a list of actors."""

    # In the order in which they were made, removals last.
    changes: List[Union[ActorChangesChangeUpsert, ActorChangesChangeRemove]]
    # For the next request. It is the one of the request if nothing has changed.
    cursor: str
    # More changes follow at once.
    hasMore: bool


class Campaign(TypedDict):
    """A campaign."""

    # Stable: of its source, or derived from its name.
    id: str
    # The name.
    name: str
    # The name in lower case, digits and hyphens.
    slug: str
    # What its source says of it.
    description: Optional[str]
    status: CampaignStatus
    # When it began; null: not known.
    startDate: Optional[str]
    # When it ended; null: not known, or not yet.
    endDate: Optional[str]
    # Sectors that it is known to attack.
    targetSectors: List[str]
    # Countries that it is known to attack.
    targetCountries: List[str]
    # The confidence of its source, 0 to 100.
    confidence: int
    tlp: Tlp
    # Linked actors that this key may see.
    actorCount: int
    # Linked techniques that this key may see.
    techniqueCount: int
    # What this key could list with campaignId.
    indicatorCount: int


class CampaignList(TypedDict):
    """A page of a list."""

    # The items of the page.
    data: List[Campaign]
    # The page returned.
    page: int
    # The page size used.
    pageSize: int
    # How many items match, on all pages together.
    total: int


class CampaignItem(TypedDict):
    """One item."""

    data: Campaign


class CampaignChangesChangeUpsert(TypedDict):
    # The campaign is new, or has changed.
    op: Literal["upsert"]
    campaign: Campaign


class CampaignChangesChangeRemove(TypedDict):
    # It is withdrawn, above the ceiling of the key, or does not match the filters any more.
    op: Literal["remove"]
    # Its id.
    id: str
    # Its name.
    name: str


class CampaignChanges(TypedDict):
    """Changes of a list of campaigns."""

    # In the order in which they were made, removals last.
    changes: List[Union[CampaignChangesChangeUpsert, CampaignChangesChangeRemove]]
    # For the next request. It is the one of the request if nothing has changed.
    cursor: str
    # More changes follow at once.
    hasMore: bool


class Technique(TypedDict):
    """A technique that an actor or a campaign uses."""

    # Its id here.
    id: str
    # ATT&CK id, such as T1003 or T1059.001; null: it has none.
    attackId: Optional[str]
    # The name.
    name: str
    # What its source says of it.
    description: Optional[str]
    # ATT&CK tactics by their short names, such as credential-access.
    tactics: List[str]
    # The confidence of its source, 0 to 100.
    confidence: int
    tlp: Tlp


class TechniqueList(TypedDict):
    """A page of a list."""

    # The items of the page.
    data: List[Technique]
    # The page returned.
    page: int
    # The page size used.
    pageSize: int
    # How many items match, on all pages together.
    total: int


class Report(TypedDict):
    """A report that refers to an actor or a campaign."""

    # Its id here.
    id: str
    # The title.
    title: str
    # The title in lower case, digits and hyphens.
    slug: str
    # Its text.
    description: Optional[str]
    # Its address.
    url: Optional[str]
    # When it was published; null: not known.
    publishedAt: Optional[str]
    # Free text of the sources, sorted.
    tags: List[str]
    # Persons and organisations.
    authors: List[str]
    # Addresses that it gives.
    links: List[str]
    # The confidence of its source, 0 to 100.
    confidence: int
    tlp: Tlp


class ReportList(TypedDict):
    """A page of a list."""

    # The items of the page.
    data: List[Report]
    # The page returned.
    page: int
    # The page size used.
    pageSize: int
    # How many items match, on all pages together.
    total: int


class NavigatorLayerVersions(TypedDict):
    """Without the version of ATT&CK, because sources do not state theirs: the Navigator takes its latest."""

    # The first version of the Navigator that reads the format.
    navigator: str
    # The version of the format.
    layer: str


class NavigatorLayerTechniqueLink(TypedDict):
    # Its text.
    label: str
    # Its address.
    url: str


class _NavigatorLayerTechniqueRequired(TypedDict):
    # ATT&CK id, such as T1059 or T1059.001.
    techniqueID: str
    # Always true.
    enabled: bool


class NavigatorLayerTechnique(_NavigatorLayerTechniqueRequired, total=False):
    # The short name of the tactic; absent: the entry is for every tactic of the technique.
    tactic: str
    # Of an actor or campaign 100: used. Of a feed how many of its actors and campaigns use it. Of the Sigma
    # rules how many there are for it. Absent: the entry is the parent of an entered sub-technique.
    score: int
    # Who uses it, or where the rules are from.
    comment: str
    # The page of the technique at MITRE.
    links: List[NavigatorLayerTechniqueLink]
    # True: the layer has sub-techniques of it, which the Navigator then shows.
    showSubtechniques: bool


class NavigatorLayerGradient(TypedDict):
    """The colours of the scores."""

    # From the minimum to the maximum.
    colors: List[str]
    # The lowest score.
    minValue: int
    # The highest score.
    maxValue: int


class NavigatorLayerLegendItem(TypedDict):
    # Its text.
    label: str
    # Its colour.
    color: str


class NavigatorLayerLink(TypedDict):
    # Its text.
    label: str
    # Its address.
    url: str


class _NavigatorLayerRequired(TypedDict):
    # The name of the actor, campaign or feed, or of the rules.
    name: str
    # Without the version of ATT&CK, because sources do not state theirs: the Navigator takes its latest.
    versions: NavigatorLayerVersions
    # Always enterprise-attack.
    domain: str
    # Always false.
    hideDisabled: bool
    # By id; one entry for each tactic of a technique, or one without a tactic if a tactic is not known or not
    # part of every version of ATT&CK.
    techniques: List[NavigatorLayerTechnique]
    # The colours of the scores.
    gradient: NavigatorLayerGradient
    # The legend.
    legendItems: List[NavigatorLayerLegendItem]


class NavigatorLayer(_NavigatorLayerRequired, total=False):
    """A layer of the ATT&CK Navigator, format 4.5."""

    # What its source says of the actor or campaign, or what the layer has.
    description: str
    # The page of the group at MITRE.
    links: List[NavigatorLayerLink]


class Feed(TypedDict):
    """A saved feed: an export with a name."""

    # The last part of its address.
    slug: str
    # Its name.
    name: str
    # Its purpose; may be empty.
    description: str
    # Its format, unless the request asks for another one.
    format: ExportFormat
    # Its filters and options, as the query string of GET /api/v1/exports/{format}.
    query: str
    # The most restricted TLP in it, for all readers.
    tlpCeiling: Tlp
    # A source does not delist entries if fewer than these would remain; null: no minimum.
    minEntries: Optional[int]
    # A source does not delist entries if less than this share (in percent) of the number of entries on an
    # earlier day would remain; null: no minimum.
    minShare: Optional[int]
    # When its definition was last changed.
    changedAt: str


class FeedList(TypedDict):
    """The saved feeds."""

    # By slug.
    data: List[Feed]


class MispEventEvent(TypedDict):
    """The event, with whatever else MISP’s core format has."""

    # Equal requests have equal ids.
    uuid: str
    # What the event is about.
    info: str
    # The indicators, as MISP’s attributes.
    Attribute: List[Dict[str, Any]]


class MispEvent(TypedDict):
    """An event in MISP’s core format."""

    # The event, with whatever else MISP’s core format has.
    Event: MispEventEvent


class MispExportResponse(TypedDict):
    # With `group`: an event for each group.
    response: List[MispEvent]


class StixBundle(TypedDict):
    """A bundle of STIX 2.1."""

    # What it is.
    type: Literal["bundle"]
    # Equal requests have equal ids.
    id: str
    # STIX objects: markings, identities, indicators, and what they are linked to.
    objects: List[Dict[str, Any]]


class TaxiiDiscovery(TypedDict):
    """The API roots of the server (TAXII 2.1 §4.1.1)."""

    # The name of the server.
    title: str
    # What the server has.
    description: str
    # The API root to use.
    default: str
    # The URLs of the API roots, absolute or of this server.
    api_roots: List[str]


class TaxiiApiRoot(TypedDict):
    """An API root (TAXII 2.1 §4.2.1)."""

    # The name of the API root.
    title: str
    # What the API root has.
    description: str
    # The media types of the versions of TAXII.
    versions: List[str]
    # The maximum size of the body of a request in bytes.
    max_content_length: int


class _TaxiiCollectionRequired(TypedDict):
    # The id.
    id: str
    # The name.
    title: str
    # A name that stands for the id in URLs.
    alias: str
    # Whether its objects can be read.
    can_read: bool
    # Whether objects can be added.
    can_write: bool
    # The media types of its objects.
    media_types: List[str]


class TaxiiCollection(_TaxiiCollectionRequired, total=False):
    """A collection (TAXII 2.1 §5.2.1)."""

    # What the collection has.
    description: str


class TaxiiCollections(TypedDict, total=False):
    """The collections that the key can read (TAXII 2.1 §5.1.1)."""

    # Absent: there are none.
    collections: List[TaxiiCollection]


class TaxiiEnvelope(TypedDict, total=False):
    """Objects of a collection (TAXII 2.1 §3.7)."""

    # Whether there is more; absent: no.
    more: bool
    # The parameter `next` of the request for the rest.
    next: str
    # Objects of STIX 2.1; absent: there are none.
    objects: List[Dict[str, Any]]


class TaxiiManifestRecord(TypedDict):
    """A version of an object (TAXII 2.1 §5.3.1)."""

    # The id of the object.
    id: str
    # When it was added to the collection, or last changed.
    date_added: str
    # Its version: when it was modified.
    version: str
    # Its media type.
    media_type: str


class TaxiiManifest(TypedDict, total=False):
    """What a collection has, without the objects (TAXII 2.1 §5.3.1)."""

    # Whether there is more; absent: no.
    more: bool
    # The parameter `next` of the request for the rest.
    next: str
    # Absent: there are none.
    objects: List[TaxiiManifestRecord]


class TaxiiVersions(TypedDict, total=False):
    """The versions of an object (TAXII 2.1 §5.8.1): one of each is kept."""

    # Whether there is more; absent: no.
    more: bool
    # Absent: there are none.
    versions: List[str]


class TaxiiError(TypedDict):
    """Every error has this body (TAXII 2.1 §3.6.1)."""

    # What is wrong, for a person.
    title: str
    # The id of the request, by which the log has it.
    error_id: str
    # What is wrong, for a program. Stable.
    error_code: str
    # The status of the response.
    http_status: str


class SigmaRuleQueryLogsource(TypedDict):
    """The log source of the rule."""

    # The product, such as windows.
    product: Optional[str]
    # The category, such as process_creation.
    category: Optional[str]
    # The service, such as security.
    service: Optional[str]


class SigmaRuleQuery(TypedDict):
    """A Sigma rule as a query."""

    # The id of the rule, a UUID.
    id: Optional[str]
    # The title of the rule.
    title: str
    source: SigmaSource
    # The file of a community rule.
    file: Optional[str]
    # What the rule detects.
    description: Optional[str]
    # The authors of the rule.
    author: Optional[str]
    # The licence of the rule; null: that of its collection.
    license: Optional[str]
    # The level of the rule.
    level: Optional[str]
    # The status of the rule.
    status: Optional[str]
    # The tags of the rule, such as attack.t1059.001.
    tags: List[str]
    # The log source of the rule.
    logsource: SigmaRuleQueryLogsource
    # false: the names of the product for this log source are not known. The query has the rule’s own names of
    # fields, and no condition for the log source.
    isMapped: bool
    # The query.
    query: str


class SigmaUnconvertedRule(TypedDict):
    """A Sigma rule that the language cannot express."""

    # The id of the rule, a UUID.
    id: Optional[str]
    # The title of the rule.
    title: str
    source: SigmaSource
    # The file of a community rule.
    file: Optional[str]
    reason: SigmaUnconvertedReason
    # Such as the name of the field, for a person.
    detail: str


class SigmaRuleQueries(TypedDict):
    """The Sigma rules of an actor or a campaign as queries."""

    language: SigmaQueryLanguage
    # The rules as queries.
    data: List[SigmaRuleQuery]
    # The rules that the language cannot express.
    skipped: List[SigmaUnconvertedRule]
    # How many indicators no rule can express, whatever the language.
    skippedIndicators: int


# manifest.json of a MISP feed: what MISP shows of an event, by the event’s uuid.
MispManifest = Dict[str, Any]

# One event, or with `group` several.
MispExport = Union[MispEvent, MispExportResponse]
