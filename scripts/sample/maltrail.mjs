import { stableUuid } from './files.mjs';
import { indicates, stixObject } from './stix-object.mjs';

/** The date of the Maltrail commit, which is the date of the transcribed statements. */
export const STATED = '2026-08-23T00:00:00.000Z';

/**
 * The included lists, each with the ATT&CK group of its file. Maltrail names the actor by the file (with its
 * "Aliases" and "MITRE" lines) and its source by the "Reference" lines above a list of addresses. A list has a report
 * only if the reference states its date, and a campaign only if the reference names one.
 */
const LISTS = [
  {
    file: 'feeds/text/maltrail-apt-lazarus.txt',
    group: 'G0032',
    references: ['https://www.microsoft.com/en-us/security/blog/2026/02/24/c2-developer-targeting-campaign/'],
    report: {
      name: 'Microsoft Security Blog: developer-targeting campaign',
      published: '2026-02-24T00:00:00.000Z',
    },
    campaign: 'Developer-targeting campaign (2026)',
  },
  {
    file: 'feeds/text/maltrail-apt-sofacy.txt',
    group: 'G0007',
    references: [
      'https://unit42.paloaltonetworks.com/threat-brief-cve-2023-23397/',
      'https://unit42.paloaltonetworks.com/russian-apt-fighting-ursa-exploits-cve-2023-233397/',
    ],
  },
  {
    file: 'feeds/text/maltrail-apt-sofacy.txt',
    group: 'G0007',
    references: ['https://twitter.com/angel11VR/status/1636474327926206470', 'https://pastebin.com/FJDa0MA8'],
  },
];

/** Returns the lists as one STIX 2.1 bundle: indicators, what they indicate, and the reports that state it. */
export function maltrailBundle(data) {
  const groups = attackGroups(data);
  const objects = LISTS.flatMap((list) => listObjects(list, groups.get(list.group), data));
  return { type: 'bundle', id: `bundle--${stableUuid('tipline sample: Maltrail')}`, objects };
}

function attackGroups(data) {
  const { objects } = data.readJson('attack/enterprise-attack-18.1.trimmed.json');
  const groups = objects.filter(({ type, revoked }) => type === 'intrusion-set' && revoked !== true);
  return new Map(groups.map((group) => [group.external_references[0].external_id, group.id]));
}

function listObjects({ file, references, report, campaign }, groupId, data) {
  const external_references = references.map((url) => ({ source_name: 'reference', url }));
  const indicators = addressesUnder(references, data.readLines(file)).map((address) => ({
    ...indicator(address, file),
    external_references,
  }));
  const campaigns = campaign === undefined ? [] : [campaignObject(campaign, external_references)];
  const targets = [groupId, ...campaigns.map(({ id }) => id)];
  const links = indicators.flatMap(({ id }) => targets.map((target) => indicates(id, target, STATED)));
  const object_refs = [...indicators.map(({ id }) => id), ...targets];
  const reports =
    report === undefined
      ? []
      : [{ ...stixObject('report', report.name, STATED), ...report, external_references, object_refs }];
  return [...indicators, ...campaigns, ...links, ...reports];
}

/** Returns the IPv4 addresses, without ports and schemes, of the list whose "Reference" lines are `urls`. */
function addressesUnder(urls, lines) {
  const first = lines.indexOf(`# Reference: ${urls[0]}`);
  const rest = lines.slice(first + urls.length + 1);
  const end = rest.findIndex((line) => line.startsWith('#'));
  const found = rest
    .slice(0, end)
    .map((line) => /^(?:http:\/\/)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(line)?.[1]);
  return [...new Set(found.filter((address) => address !== undefined))];
}

function indicator(address, file) {
  return {
    ...stixObject('indicator', `${file} ${address}`, STATED),
    name: address,
    pattern: `[ipv4-addr:value = '${address}']`,
    pattern_type: 'stix',
    valid_from: STATED,
    indicator_types: ['malicious-activity'],
  };
}

function campaignObject(name, external_references) {
  return {
    ...stixObject('campaign', name, STATED),
    name,
    description: 'The campaign of the report under which Maltrail lists these servers.',
    external_references,
  };
}
