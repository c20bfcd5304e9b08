import { isoSeconds, stableUuid } from './files.mjs';
import { indicates, stixObject } from './stix-object.mjs';

const KERRDOWN = 'S0585';
const YARA_RESULT = 'Detects win.kerrdown.';

/**
 * Returns VirusTotal's report on one file as STIX 2.1. A YARA rule in the response states that the file is
 * Kerrdown; ATT&CK states that APT32 uses Kerrdown. The bundle refers to Kerrdown and APT32 by ATT&CK's ids.
 */
export function kerrdownBundle(data) {
  const file = data.readJson('providers/virustotal-v3-file.json').data.attributes;
  const { objects } = data.readJson('attack/enterprise-attack-18.1.trimmed.json');
  const rule = file.crowdsourced_yara_results.find(({ description }) => description === YARA_RESULT);
  const malware = objects.find(({ external_references: [first] = [] }) => first?.external_id === KERRDOWN);
  const use = objects.find((link) => isUseByGroup(link, malware.id));
  const stated = isoSeconds(file.last_analysis_date);
  const reasons = [
    [malware.id, `VirusTotal: the YARA rule ${rule.rule_name} (${rule.source}) matches: ${rule.description}`],
    [use.source_ref, `By way of Kerrdown, which in ATT&CK (${KERRDOWN}) only APT32 uses.`],
  ];

  const indicators = indicatorsOf(file, stated);
  const links = indicators.flatMap(({ id }) =>
    reasons.map(([target, description]) => ({ ...indicates(id, target, stated), description })),
  );
  const refs = [...indicators.map(({ id }) => id), malware.id, use.source_ref];
  return {
    type: 'bundle',
    id: `bundle--${stableUuid('tipline sample: Kerrdown')}`,
    objects: [...indicators, ...links, report(file, stated, refs)],
  };
}

function isUseByGroup(link, software) {
  return (
    link.relationship_type === 'uses' &&
    link.target_ref === software &&
    link.source_ref.startsWith('intrusion-set--')
  );
}

/** Returns one indicator for each hash of the file. */
function indicatorsOf(file, stated) {
  const hashes = [
    ["'SHA-256'", file.sha256],
    ["'SHA-1'", file.sha1],
    ['MD5', file.md5],
  ];
  return hashes.map(([algorithm, hash]) => ({
    ...stixObject('indicator', `VirusTotal ${hash}`, stated),
    name: hash,
    pattern: `[file:hashes.${algorithm} = '${hash}']`,
    pattern_type: 'stix',
    valid_from: isoSeconds(file.first_submission_date),
    indicator_types: ['malicious-activity'],
    labels: ['virustotal', 'trojan', 'kerrdown'],
    external_references: [virusTotalPage(file)],
  }));
}

function report(file, stated, object_refs) {
  const name = `VirusTotal: win.kerrdown, ${file.sha256.slice(0, 8)}…`;
  return {
    ...stixObject('report', name, stated),
    name,
    published: stated,
    report_types: ['malware'],
    external_references: [virusTotalPage(file)],
    object_refs,
  };
}

function virusTotalPage({ sha256 }) {
  return { source_name: 'VirusTotal', url: `https://www.virustotal.com/gui/file/${sha256}` };
}
