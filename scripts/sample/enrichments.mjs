import { isoSeconds } from './files.mjs';
import { maltrailAnswers } from './maltrail-answers.mjs';

/** Values of the sample that TweetFeed has looked up: `[type, value as in the sample, file, key in it]`. */
const LOOKED_UP = [
  ['IPV4', '147.124.217.204', 'ipmeta-0a', '147.124.217.204'],
  ['IPV4', '132.226.100.149', 'ipmeta-0b', '132.226.100.149'],
  ['DOMAIN', 'canvas-35.com', 'domainmeta-0b', 'canvas-35.com'],
  ['DOMAIN', 'tastyvibescbd.com', 'domainmeta-0b', 'tastyvibescbd.com'],
  ['DOMAIN', 'w1mail.com', 'domainmeta-0a', 'w1mail.com'],
];

/** Returns pairs `[file name, enrichment]`. `raw` is the unmodified response; for Maltrail, lines of its list. */
export function enrichmentFiles(data) {
  return [
    ...virustotal(data),
    ...LOOKED_UP.map((entry) => tweetfeed(data, entry)),
    ...maltrailAnswers(data).map(([address, date, raw]) => named('maltrail', 'IPV4', address, date, raw)),
  ];
}

function virustotal(data) {
  const answer = (kind) => data.readJson(`providers/virustotal-v3-${kind}.json`);
  const file = answer('file');
  const domain = answer('domain');
  const address = answer('ipv4');
  const { sha256, sha1, md5, last_analysis_date } = file.data.attributes;
  // These responses have no date of an analysis; the date of the last modification replaces it.
  const changed = ({ data: { attributes } }) => isoSeconds(attributes.last_modification_date);
  const analysed = isoSeconds(last_analysis_date);
  return [
    named('virustotal', 'SHA256', sha256, analysed, file),
    named('virustotal', 'SHA1', sha1, analysed, file),
    named('virustotal', 'MD5', md5, analysed, file),
    named('virustotal', 'DOMAIN', domain.data.id, changed(domain), domain),
    named('virustotal', 'IPV4', address.data.id, changed(address), address),
  ];
}

function tweetfeed(data, [type, value, file, key]) {
  const raw = data.readJson(`providers/tweetfeed-${file}.json`).entries[key];
  return named('tweetfeed-meta', type, value, raw.fetched_at ?? raw.checked_at, raw);
}

function named(provider, type, value, fetchedAt, raw) {
  return [`${provider}-${value.slice(0, 32)}.json`, { provider, type, value, fetchedAt, raw }];
}
