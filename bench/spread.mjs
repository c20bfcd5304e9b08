/**
 * The distributions of the generated data. They were measured on one year of public feeds (a MISP feed of social-media
 * sightings, vendors' MISP events and STIX bundles, botnet and malware-URL trackers), weighted by the feeds' sizes. Shares
 * that those feeds do not state (TLP above GREEN, whitelisting, expiry) are assumptions.
 */

/** Weights of the types, about per thousand. IPV6 and ASN are too rare in the feeds to be measured. */
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

/** Quantiles of the lengths of values in characters, as [share, length]. Outliers (over 1,300) are cut to the order of p99. */
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

/** The most common tags with their numbers of occurrences, then a long tail of families. */
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

/** Weights of the sources. */
export const SOURCES = [
  ['Sightings feed', 62],
  ['Vendor STIX', 14],
  ['URL tracker', 12],
  ['Botnet tracker', 5],
  ['Vendor MISP', 4],
  ['Sharing group', 2],
  ['Own incidents', 1],
];

/** The number of indicators that share one lastSeen: the size of a feed's event. */
export const INDICATORS_PER_EVENT = 300;
/** Each of the other indicators has a time of its own. */
export const SHARE_WITH_EVENT_TIME = 0.8;
export const SHARE_WHITELISTED = 0.01;
export const SHARE_EXPIRED = 0.05;
export const SHARE_EXPIRES_LATER = 0.2;
export const SHARE_FOR_DETECTION = 0.9;
export const SHARE_ENRICHED = 0.02;
