/** The files that the demo imports, in this order, with the defaults of their sources for incomplete records. */
export const SOURCES = [
  source('attack/enterprise.json', 'MITRE ATT&CK', 75, 'MEDIUM'),
  source('stix/maltrail-attributed.json', 'Maltrail', 60, 'HIGH'),
  ...[
    'unit42-cve-2023-23397',
    'unit42-qakbot',
    'unit42-kaseya',
    'unit42-midnight-eclipse',
    'unit42-latrodectus',
  ].map((name) => source(`stix/${name}.json`, 'Unit 42', 75, 'HIGH')),
  source('stix/kerrdown.json', 'VirusTotal', 50, 'MEDIUM'),
  source('stix/oasis-poisonivy.json', 'OASIS STIX examples', 50, 'MEDIUM'),
  source('stix/mvt-operation-triangulation.json', 'MVT indicators', 75, 'HIGH'),
  source('stix/hyperhives-macos-infostealer.json', 'HyperHives analysis', 60, 'HIGH'),
  source('stix/tweetfeed-2026-08-22.json', 'TweetFeed', 40, 'MEDIUM'),
  ...[
    'eset-oceanlotus',
    'eset-oceanlotus-wateringhole-2018',
    'eset-dukes-operation-ghost',
    'eset-zebrocy',
    'eset-sednit-2017',
    'eset-turla-lightneuron',
    'eset-telebots',
    'eset-invisimole',
    'eset-machete',
    'eset-kryptocibule',
    'eset-ramsay',
  ].map((name) => source(`misp/${name}.json`, 'ESET', 80, 'MEDIUM')),
  source('misp/tweetfeed-2026-08-18.json', 'TweetFeed', 40, 'MEDIUM'),
  source('misp/tweetfeed-2026-08-21.json', 'TweetFeed', 40, 'MEDIUM'),
  source('csv/cisa-kev.csv', 'CISA KEV', 90, 'HIGH'),
  source('csv/ipsum.csv', 'IPsum', 50, 'MEDIUM'),
  source('csv/maltrail-ipv6-scanners.csv', 'Maltrail', 60, 'INFO'),
  source('csv/enriched.csv', 'VirusTotal look-ups', 50, 'MEDIUM'),
];

/** All data is public: TLP:CLEAR unless a record has its own marking. */
function source(file, name, confidence, severity) {
  return { file, source: name, tlp: 'CLEAR', confidence, severity };
}

/** The texts of licences and terms that are copied into the sample. */
export const LICENSES = [
  'mitre-attack.txt',
  'unit42-iocs.MIT.txt',
  'mvt-indicators.MIT.txt',
  'hyperhives.MIT.txt',
  'maltrail.MIT.txt',
  'oasis-cti-documentation.BSD-3-Clause.txt',
  'eset-malware-ioc.BSD-2-Clause.txt',
  'misp-galaxy.md',
  'tweetfeed.CC0-1.0.txt',
  'cisa-kev.txt',
  'ipsum.Unlicense.txt',
  'opencti-connectors.Apache-2.0.txt',
];
