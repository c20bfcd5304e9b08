const KEV_ENTRIES = 150;
const IPSUM_ENTRIES = 150;
const SCANNERS = 40;

/** Returns pairs `[file name, rows]`. The first row is the header; tags are separated by ";". */
export function csvFiles(data) {
  return [
    ['cisa-kev.csv', knownExploited(data)],
    ['ipsum.csv', ipsum(data)],
    ['maltrail-ipv6-scanners.csv', ipv6Scanners(data)],
    ['enriched.csv', enriched(data)],
  ];
}

/** Returns the latest KEV entries. Known use in ransomware campaigns makes the severity CRITICAL. */
function knownExploited(data) {
  const { vulnerabilities } = data.readJson('vulnerabilities/cisa-kev.json');
  const newest = vulnerabilities.toSorted(
    (a, b) => b.dateAdded.localeCompare(a.dateAdded) || b.cveID.localeCompare(a.cveID),
  );
  const rows = newest.slice(0, KEV_ENTRIES).map((entry) => {
    const ransomware = entry.knownRansomwareCampaignUse === 'Known';
    const tags = ransomware ? 'cisa-kev;ransomware' : 'cisa-kev';
    return [entry.cveID, 'CVE', `${entry.dateAdded}T00:00:00Z`, ransomware ? 'CRITICAL' : 'HIGH', tags];
  });
  return [['value', 'type', 'first_seen', 'severity', 'tags'], ...rows];
}

/** Returns the addresses on the most blocklists. Each list adds 9 points of confidence, up to 95. */
function ipsum(data) {
  const entries = data.readLines('feeds/text/ipsum.txt').filter((line) => /^\d/.test(line));
  const rows = entries.slice(0, IPSUM_ENTRIES).map((line) => {
    const [address, lists] = line.trim().split('\t');
    return [address, 'IPV4', `ipsum;on-${lists}-lists`, Math.min(95, 9 * Number(lists))];
  });
  return [['value', 'type', 'tags', 'confidence'], ...rows];
}

/** Returns research scanners of the whole Internet, with severity INFO and a tag for their operator. */
function ipv6Scanners(data) {
  const matches = data
    .readLines('feeds/text/maltrail-mass-scanner.txt')
    .map((line) => /^([0-9a-f]{1,4}:[0-9a-f:]{2,40}) # ([a-z0-9.-]{1,60})$/.exec(line.trim()))
    .filter((match) => match !== null);
  const rows = matches
    .slice(0, SCANNERS)
    .map(([, address, operator]) => [address, 'IPV6', 'INFO', `mass-scanner;${operator}`]);
  return [['value', 'type', 'severity', 'tags'], ...rows];
}

/** Returns values that only a provider's responses contain, tagged with the number of detections. */
function enriched(data) {
  const vt = (kind) => data.readJson(`providers/virustotal-v3-${kind}.json`).data;
  const detections = (answer) => `virustotal;${answer.attributes.last_analysis_stats.malicious}-detections`;
  return [
    ['value', 'type', 'tags'],
    [vt('domain').id, 'DOMAIN', detections(vt('domain'))],
    [vt('ipv4').id, 'IPV4', detections(vt('ipv4'))],
  ];
}
