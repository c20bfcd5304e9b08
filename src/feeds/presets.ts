import type { FormatName } from '../formats/catalogue.ts';

/** The format and the options of a feed for one consumer. */
export interface Preset {
  /** The consumer. */
  label: string;
  /** What the consumer does with the feed. */
  purpose: string;
  format: FormatName;
  /** As of a feed, with a `limit` if the consumer has a documented maximum. */
  query: string;
  /** The documented maximum, and the document. */
  limit?: Limit;
}

interface Limit {
  text: string;
  source: string;
}

const PAN_OS = 'PAN-OS web interface help, Objects > External Dynamic Lists';
/** For each kind of list; the smallest number of all models. */
const PAN_OS_ADDRESSES: Limit = {
  text: '50,000 addresses in all lists; 150,000 on PA-5000 and PA-7000',
  source: PAN_OS,
};
const PAN_OS_NAMES: Limit = { text: '50,000 in all lists', source: PAN_OS };
/** Smaller than every maximum since FortiOS 7.4.4, which is one of all lists: 300,000 addresses, 150,000 URLs. */
const FORTIOS: Limit = {
  text: '131,072 entries or 10 MB a list; since FortiOS 7.4.4 in all lists: 300,000 addresses, 1,000,000 domains or 150,000 URLs, more on larger models',
  source: 'Fortinet, External threat list resource entry limits; FortiOS 7.4.4 New Features',
};
const CHECK_POINT: Limit = {
  text: '2,000,000 observables in all feeds, since R81.20; more where memory allows',
  source: 'Check Point R81.20 Threat Prevention Administration Guide, Custom Intelligence Feeds',
};
const PFSENSE: Limit = {
  text: 'half of Firewall Maximum Table Entries in all aliases: by default 200,000',
  source: 'pfSense documentation, Alias Features and Limitations',
};
const CISCO: Limit = {
  text: 'a file of 500 MB',
  source: 'FireSIGHT System User Guide, Security Intelligence Lists and Feeds',
};

const ALPHANUMERIC = 'reference set of type Alphanumeric (Ignore Case)';

const txt = (query: string, label: string, purpose: string, limit?: Limit): Preset => ({
  label,
  purpose,
  format: 'txt',
  query,
  ...(limit && { limit }),
});

/** Presets by name. */
export const PRESETS = {
  'paloalto-ip': txt(
    'style=paloalto&types=IPV4,IPV6&limit=50000',
    'PAN-OS, addresses',
    'external dynamic list (EDL) of type IP List',
    PAN_OS_ADDRESSES,
  ),
  'paloalto-domain': txt(
    'style=paloalto&types=DOMAIN&limit=50000',
    'PAN-OS, domains',
    'EDL of type Domain List',
    PAN_OS_NAMES,
  ),
  'paloalto-url': txt(
    'style=paloalto&types=URL&limit=50000',
    'PAN-OS, URLs',
    'EDL of type URL List',
    PAN_OS_NAMES,
  ),
  'fortinet-ip': txt(
    'style=fortinet&types=IPV4,IPV6&limit=131072',
    'FortiOS, addresses',
    'threat feed of type IP Address',
    FORTIOS,
  ),
  'fortinet-domain': txt(
    'style=fortinet&types=DOMAIN&limit=131072',
    'FortiOS, domains',
    'threat feed of type Domain Name',
    FORTIOS,
  ),
  'fortinet-url': txt(
    'style=fortinet&types=URL&limit=131072',
    'FortiOS, URLs',
    'threat feed of type FortiGuard Category',
    FORTIOS,
  ),
  'fortinet-hash': txt(
    'style=fortinet&types=MD5,SHA1,SHA256&limit=131072',
    'FortiOS, file hashes',
    'threat feed of type Malware Hash',
    FORTIOS,
  ),
  'checkpoint-ip': txt(
    'style=checkpoint&types=IPV4,IPV6&limit=2000000',
    'Check Point, addresses',
    'network feed, or custom intelligence feed',
    CHECK_POINT,
  ),
  'checkpoint-domain': txt(
    'style=checkpoint&types=DOMAIN&limit=2000000',
    'Check Point, domains',
    'custom intelligence feed',
    CHECK_POINT,
  ),
  'checkpoint-url': txt(
    'style=checkpoint&types=URL&limit=2000000',
    'Check Point, URLs',
    'custom intelligence feed',
    CHECK_POINT,
  ),
  'checkpoint-md5': txt(
    'style=checkpoint&types=MD5&limit=2000000',
    'Check Point, MD5',
    'custom intelligence feed',
    CHECK_POINT,
  ),
  'checkpoint-sha1': txt(
    'style=checkpoint&types=SHA1&limit=2000000',
    'Check Point, SHA-1',
    'custom intelligence feed',
    CHECK_POINT,
  ),
  'checkpoint-sha256': txt(
    'style=checkpoint&types=SHA256&limit=2000000',
    'Check Point, SHA-256',
    'custom intelligence feed',
    CHECK_POINT,
  ),
  'cisco-ip': txt(
    'types=IPV4,IPV6',
    'Cisco Secure Firewall, addresses',
    'Security Intelligence network feed',
    CISCO,
  ),
  // The names below each entry are blocked too, so it must have no public suffix.
  'cisco-domain': txt(
    'style=paloalto&types=DOMAIN&wildcards=off',
    'Cisco Secure Firewall, domains',
    'Security Intelligence DNS feed',
    CISCO,
  ),
  'cisco-url': txt('types=URL', 'Cisco Secure Firewall, URLs', 'Security Intelligence URL feed', CISCO),
  pfsense: txt('types=IPV4,IPV6&limit=100000', 'pfSense', 'alias of type URL Table (IPs)', PFSENSE),
  opnsense: txt('types=IPV4,IPV6', 'OPNsense', 'alias of type URL Table (IPs)'),
  mikrotik: txt('style=mikrotik', 'MikroTik RouterOS', 'address lists tipline of IPv4 and IPv6'),
  nftables: txt('style=nftables', 'nftables', 'sets ipv4 and ipv6 in the table inet tipline'),
  ipset: txt('style=ipset', 'ipset', 'sets tipline4 and tipline6'),
  nginx: txt('style=nginx', 'nginx', 'deny directives'),
  hosts: txt('style=hosts', 'hosts file', 'names that resolve to 0.0.0.0'),
  pihole: txt('style=hosts', 'Pi-hole', 'subscribed list'),
  dnsmasq: txt('style=dnsmasq', 'dnsmasq', 'NXDOMAIN for domains and the names below'),
  unbound: txt('style=unbound', 'unbound', 'NXDOMAIN for domains and the names below'),
  bind: {
    label: 'BIND and others with response policy zones',
    purpose: 'a response policy zone (RPZ)',
    format: 'rpz',
    query: '',
  },
  squid: txt('style=squid', 'Squid', 'ACL of type dstdomain'),
  haproxy: txt('types=IPV4,IPV6', 'HAProxy', 'ACL file of addresses'),
  // The names below each entry are blocked too, so it must have no public suffix.
  dnsdist: txt('style=paloalto&types=DOMAIN&wildcards=off', 'dnsdist', 'names of a SuffixMatchNode'),
  'rspamd-ip': txt('types=IPV4,IPV6', 'rspamd, addresses', 'multimap map of type ip'),
  'rspamd-domain': txt('types=DOMAIN', 'rspamd, domains', 'multimap map of types url and from'),
  'rspamd-email': txt('types=EMAIL', 'rspamd, senders', 'multimap map of type from'),
  'rspamd-sha256': txt('types=SHA256', 'rspamd, attachments', 'multimap map of type selector'),
  'postfix-ip': txt('style=postfix&types=IPV4,IPV6', 'Postfix, addresses', 'cidr table of access(5)'),
  'postfix-domain': txt('style=postfix&types=DOMAIN', 'Postfix, domains', 'texthash table of access(5)'),
  'postfix-email': txt('style=postfix&types=EMAIL', 'Postfix, senders', 'texthash table of access(5)'),
  'clamav-md5': txt('style=clamav&types=MD5', 'ClamAV, MD5', 'hash signatures, file .hdb'),
  'clamav-sha': txt(
    'style=clamav&types=SHA1,SHA256',
    'ClamAV, SHA-1 and SHA-256',
    'hash signatures, file .hsb',
  ),
  suricata: { label: 'Suricata, rules', purpose: 'a rule for each indicator', format: 'suricata', query: '' },
  'suricata-datasets': {
    label: 'Suricata, datasets',
    purpose: 'datasets, a reputation list (iprep) and the rules that read them',
    format: 'suricata',
    query: 'style=datasets',
  },
  snort: { label: 'Snort 3', purpose: 'a rule for each indicator', format: 'snort', query: '' },
  zeek: { label: 'Zeek', purpose: 'a file of the intelligence framework', format: 'zeek', query: '' },
  'wazuh-ip': txt('style=wazuh&types=IPV4,IPV6', 'Wazuh, addresses', 'CDB list'),
  'wazuh-domain': txt('style=wazuh&types=DOMAIN', 'Wazuh, domains', 'CDB list'),
  'wazuh-url': txt('style=wazuh&types=URL', 'Wazuh, URLs', 'CDB list'),
  'wazuh-md5': txt('style=wazuh&types=MD5', 'Wazuh, MD5', 'CDB list'),
  'wazuh-sha1': txt('style=wazuh&types=SHA1', 'Wazuh, SHA-1', 'CDB list'),
  'wazuh-sha256': txt('style=wazuh&types=SHA256', 'Wazuh, SHA-256', 'CDB list'),
  'splunk-ip': txt('style=splunk&types=IPV4,IPV6', 'Splunk ES, addresses', 'lookup of ip_intel'),
  'splunk-domain': txt('style=splunk&types=DOMAIN', 'Splunk ES, domains', 'lookup of domain_intel'),
  'splunk-url': txt('style=splunk&types=URL,USER_AGENT', 'Splunk ES, URLs', 'lookup of http_intel'),
  'splunk-file': txt(
    'style=splunk&types=MD5,SHA1,SHA256,FILENAME',
    'Splunk ES, files',
    'lookup of file_intel',
  ),
  'splunk-email': txt('style=splunk&types=EMAIL', 'Splunk ES, e-mail', 'lookup of email_intel'),
  'splunk-registry': txt(
    'style=splunk&types=REGISTRY_KEY',
    'Splunk ES, registry',
    'lookup of registry_intel',
  ),
  'qradar-ip': txt('style=qradar&types=IPV4', 'QRadar, addresses', 'reference set of type IP'),
  'qradar-domain': txt('style=qradar&types=DOMAIN', 'QRadar, domains', ALPHANUMERIC),
  'qradar-url': txt('style=qradar&types=URL', 'QRadar, URLs', ALPHANUMERIC),
  'qradar-md5': txt('style=qradar&types=MD5', 'QRadar, MD5', ALPHANUMERIC),
  'qradar-sha1': txt('style=qradar&types=SHA1', 'QRadar, SHA-1', ALPHANUMERIC),
  'qradar-sha256': txt('style=qradar&types=SHA256', 'QRadar, SHA-256', ALPHANUMERIC),
  // osquery reads no list: the recipe makes an SQLite database of it.
  osquery: {
    label: 'osquery',
    purpose: 'a table of file hashes and addresses (ATC)',
    format: 'csv',
    query: 'types=MD5,SHA1,SHA256,IPV4,IPV6&forDetection=true&csvGuard=off',
  },
  elastic: {
    label: 'Elastic Security',
    purpose: 'documents of threat.indicator',
    format: 'ecs',
    query: '',
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;

export const PRESET_NAMES = Object.keys(PRESETS) as [PresetName, ...PresetName[]];
