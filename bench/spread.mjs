/**
 * How the generated data is spread: measured on public feeds of a year (a MISP feed of social-media sightings,
 * vendors' MISP events and STIX bundles, botnet and malware-URL trackers), put together by their sizes. What those
 * feeds do not state (TLP above GREEN, whitelisting, expiry) is set here.
 */

/** Shares of the types, per thousand. IPV6 and ASN are too rare in the feeds to be measured. */
export const TYPES = [
  ['URL', 415],
  ['DOMAIN', 325],
  ['IPV4', 110],
  ['SHA256', 62],
  ['MD5', 25],
  ['SHA1', 18],
  ['CVE', 12],
  ['FILENAME', 12],
  ['IPV6', 8],
  ['EMAIL', 4],
  ['REGISTRY_KEY', 3],
  ['ASN', 2],
  ['MUTEX', 1.5],
  ['USER_AGENT', 1.5],
  ['BTC_ADDRESS', 1],
];

/** Lengths of values in characters, as [share, length]. The longest few (over 1,300) are cut to what p99 shows. */
export const LENGTHS = {
  DOMAIN: [
    [0, 9],
    [0.05, 10],
    [0.25, 14],
    [0.5, 18],
    [0.75, 23],
    [0.9, 30],
    [0.95, 36],
    [0.99, 60],
    [1, 120],
  ],
  URL: [
    [0, 16],
    [0.05, 20],
    [0.25, 26],
    [0.5, 34],
    [0.75, 50],
    [0.9, 82],
    [0.95, 101],
    [0.99, 129],
    [1, 330],
  ],
  FILENAME: [
    [0, 7],
    [0.05, 8],
    [0.25, 11],
    [0.5, 15],
    [0.75, 25],
    [0.9, 41],
    [0.95, 59],
    [1, 105],
  ],
  REGISTRY_KEY: [
    [0, 34],
    [0.25, 50],
    [0.5, 57],
    [0.75, 72],
    [0.95, 107],
    [1, 107],
  ],
  MUTEX: [
    [0, 6],
    [0.25, 13],
    [0.5, 21],
    [0.75, 30],
    [1, 39],
  ],
  EMAIL: [
    [0, 16],
    [0.05, 17],
    [0.5, 24],
    [0.9, 30],
    [1, 40],
  ],
};

export const TAGS_PER_INDICATOR = [
  [0, 31],
  [1, 38],
  [2, 23],
  [3, 5],
  [4, 2],
  [5, 0.6],
  [6, 0.3],
  [8, 0.1],
];

/** The commonest tags with how often each was seen, then a tail of families, ever rarer. */
export const TAGS = [
  ['phishing', 40725],
  ['kimsuky', 13247],
  ['dprk', 11647],
  ['c2', 9758],
  ['scam', 5550],
  ['coinminer', 5000],
  ['elf', 3493],
  ['cobaltstrike', 3418],
  ['malware', 2808],
  ['opendir', 1827],
  ['apt', 1670],
  ['drb-ra', 1493],
  ['hajime', 1381],
  ['rat', 1287],
  ['mirai', 1260],
  ['asyncrat', 1208],
  ['ua-wget', 1170],
  ['fakecaptcha', 1112],
  ['pdf', 1100],
  ['seopoisoning', 1098],
  ['remcos', 888],
  ['clickfix', 831],
  ['stealer', 733],
  ['lumma', 702],
  ['ransomware', 652],
  ['zip', 640],
  ['xworm', 601],
  ['sliver', 499],
  ['njrat', 334],
  ['havoc', 264],
  ...Array.from({ length: 500 }, (_, i) => [`family-${i + 1}`, 3000 / (i + 10) ** 1.4]),
];

export const SEVERITIES = [
  ['MEDIUM', 52],
  ['HIGH', 27],
  ['LOW', 12],
  ['CRITICAL', 5],
  ['INFO', 4],
];

export const TLPS = [
  ['CLEAR', 60],
  ['GREEN', 25],
  ['AMBER', 10],
  ['AMBER_STRICT', 2],
  ['RED', 3],
];

export const CONFIDENCES = [
  [50, 40],
  [75, 28],
  [100, 19],
  [95, 6],
  [90, 3],
  [80, 2],
  [60, 1],
  [30, 1],
];

/** Share of the indicators of each source. */
export const SOURCES = [
  ['Sightings feed', 62],
  ['Vendor STIX', 14],
  ['URL tracker', 12],
  ['Botnet tracker', 5],
  ['Vendor MISP', 4],
  ['Sharing group', 2],
  ['Own incidents', 1],
];

/** Indicators that share one lastSeen: the size of a feed's event. */
export const PER_EVENT = 300;
/** Of the others, each has a time of its own. */
export const SHARE_WITH_EVENT_TIME = 0.8;
export const WHITELISTED = 0.01;
export const EXPIRED = 0.05;
export const EXPIRES_LATER = 0.2;
export const FOR_DETECTION = 0.9;
export const ENRICHED = 0.02;
