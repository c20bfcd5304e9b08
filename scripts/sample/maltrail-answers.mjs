import { STATED } from './maltrail.mjs';

const LIST = 'feeds/text/maltrail-apt-sofacy.txt';
/** The list's path in Maltrail's repository. */
const LIST_IN_MALTRAIL = 'trails/static/malware/apt_sofacy.txt';
const LOOKED_UP = 'stix20/unit42-cve-2023-23397.json';

/** Returns the entries of Maltrail's list for addresses of the Unit 42 bundle: `[address, date, entry]`. */
export function maltrailAnswers(data) {
  const lines = data.readLines(LIST);
  const addresses = data
    .readJson(LOOKED_UP)
    .objects.map(({ pattern }) => /^\[ipv4-addr:value = '([\d.]+)'\]$/.exec(pattern)?.[1])
    .filter((address) => address !== undefined);
  return addresses
    .map((address) => [address, STATED, lookUp(address, lines)])
    .filter(([, , { trail }]) => trail !== null);
}

/** Returns the first line with the address, with or without scheme and port, and the references above it. */
function lookUp(address, lines) {
  const isAbout = (line) => /^(?:http:\/\/)?([\d.]+)(?::\d+)?$/.exec(line)?.[1] === address;
  const index = lines.findIndex(isAbout);
  if (index === -1) return { trail: null };
  return { trail: lines[index], file: LIST_IN_MALTRAIL, reference: referencesOver(lines, index) };
}

function referencesOver(lines, index) {
  const isComment = (line) => line.startsWith('#');
  const last = lines.slice(0, index).findLastIndex(isComment);
  const before = lines.slice(0, last).findLastIndex((line) => !isComment(line));
  return lines.slice(before + 1, last + 1).filter((line) => line.startsWith('# Reference: '));
}
