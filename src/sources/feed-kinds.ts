import { UnreadableInput } from '../importers/importer.ts';
import { createImporter } from '../importers/recognize.ts';
import { fetchFile } from './fetch-file.ts';
import { fetchMispFeed } from './fetch-misp-feed.ts';
import { fetchOtx } from './fetch-otx.ts';
import { fetchTaxii } from './fetch-taxii.ts';
import type { Fetcher } from './fetching.ts';

/** The properties of a kind of feed. */
export interface FeedRules {
  /** A description for people, in Markdown. */
  title: string;
  /** The default address; null: the operator must set one. */
  address: string | null;
  /** The header for the key; null: there is no key, or the operator chooses its header. */
  keyHeader: string | null;
  keyNeeded: boolean;
  intervalSeconds: number;
  /** Each copy is the complete list: an indicator that is missing from it is delisted. */
  isSnapshotList: boolean;
  /** It is fetched by what has changed, so that it cannot be a complete list. */
  sendsChanges: boolean;
  /** The name of its importer. */
  importer: string;
  /** The names of the allowed options: `map` and `type` are for the importer, `days` is for the query. */
  options: readonly string[];
  fetch: Fetcher;
}

const HOUR = 3600;

const file = {
  title: '',
  address: null,
  keyHeader: null,
  keyNeeded: false,
  intervalSeconds: HOUR,
  isSnapshotList: false,
  sendsChanges: false,
  options: [],
  fetch: fetchFile,
};

/**
 * The kinds of feeds, by name. ThreatFox and MalwareBazaar require a query by POST
 * (https://threatfox.abuse.ch/api, https://bazaar.abuse.ch/api).
 */
const FEED_RULES = {
  urlhaus: {
    ...file,
    title: 'abuse.ch URLhaus: URLs of the last three days',
    address: 'https://urlhaus-api.abuse.ch/v1/urls/recent/',
    keyHeader: 'auth-key',
    keyNeeded: true,
    intervalSeconds: HOUR / 12,
    importer: 'urlhaus',
  },
  threatfox: {
    ...file,
    title: 'abuse.ch ThreatFox: indicators of the last days, 3 unless `days` says otherwise (1 to 7)',
    address: 'https://threatfox-api.abuse.ch/api/v1/',
    keyHeader: 'auth-key',
    keyNeeded: true,
    importer: 'threatfox',
    options: ['days'],
    fetch: (context) =>
      fetchFile(context, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'get_iocs', days: context.source.options.days ?? 3 }),
      }),
  },
  malwarebazaar: {
    ...file,
    title: 'abuse.ch MalwareBazaar: samples of the last hour',
    address: 'https://mb-api.abuse.ch/api/v1/',
    keyHeader: 'auth-key',
    keyNeeded: true,
    intervalSeconds: HOUR / 2,
    importer: 'malwarebazaar',
    fetch: (context) =>
      fetchFile(context, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'query=get_recent&selector=time',
      }),
  },
  feodo: {
    ...file,
    title: 'abuse.ch Feodo Tracker: command-and-control servers, a complete list',
    address: 'https://feodotracker.abuse.ch/downloads/ipblocklist.json',
    keyHeader: 'auth-key',
    intervalSeconds: HOUR / 4,
    isSnapshotList: true,
    importer: 'feodo',
  },
  drop: {
    ...file,
    title:
      'Spamhaus DROP: networks of criminals, a complete list; the same kind reads drop_v6.json and asndrop.json',
    address: 'https://www.spamhaus.org/drop/drop_v4.json',
    intervalSeconds: 24 * HOUR,
    isSnapshotList: true,
    importer: 'drop',
  },
  dshield: {
    ...file,
    title: 'DShield block list: the networks that attack most, a complete list',
    address: 'https://feeds.dshield.org/block.txt',
    isSnapshotList: true,
    importer: 'dshield',
  },
  kev: {
    ...file,
    title: 'CISA Known Exploited Vulnerabilities',
    address: 'https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json',
    intervalSeconds: 6 * HOUR,
    importer: 'kev',
  },
  epss: {
    ...file,
    title: 'FIRST EPSS: the scores of all CVE ids, which indicators with these ids then show',
    address: 'https://epss.empiricalsecurity.com/epss_scores-current.csv.gz',
    intervalSeconds: 12 * HOUR,
    importer: 'epss',
  },
  otx: {
    ...file,
    title: 'LevelBlue OTX: subscribed pulses that have changed',
    address: 'https://otx.alienvault.com/api/v1/pulses/subscribed',
    keyHeader: 'x-otx-api-key',
    keyNeeded: true,
    importer: 'otx',
    sendsChanges: true,
    fetch: fetchOtx,
  },
  taxii: {
    ...file,
    title: 'a TAXII 2.1 collection, `…/collections/ID/`',
    importer: 'stix',
    sendsChanges: true,
    fetch: fetchTaxii,
  },
  misp: {
    ...file,
    title: 'a MISP feed: its `manifest.json` or its directory; only changed events are fetched',
    keyHeader: 'authorization',
    importer: 'misp',
    sendsChanges: true,
    fetch: fetchMispFeed,
  },
  stix: { ...file, title: 'a STIX 2.0 or 2.1 bundle', importer: 'stix' },
  csv: { ...file, title: 'a CSV file', importer: 'csv', options: ['map'] },
  json: { ...file, title: 'JSON or JSON Lines, read by a map', importer: 'json', options: ['map'] },
  text: {
    ...file,
    title: 'a complete list, one value per line',
    isSnapshotList: true,
    importer: 'text',
    options: ['type'],
  },
} satisfies Record<string, FeedRules>;

/** The names of the kinds. */
export const FEED_KINDS = Object.keys(FEED_RULES);

/** @returns undefined for `import`, `sample` and all other kinds that are not fetched */
export function feedRulesOf(kind: string): FeedRules | undefined {
  return Object.hasOwn(FEED_RULES, kind) ? FEED_RULES[kind as keyof typeof FEED_RULES] : undefined;
}

/** The maximum of the option `days`: ThreatFox returns the last one to seven days. */
const MAX_DAYS = 7;

/** Returns the error message for the options of a source of this kind; null: they are valid. */
export function optionsProblem(
  kind: string,
  { importer, options: allowed }: Pick<FeedRules, 'importer' | 'options'>,
  options: Readonly<Record<string, unknown>>,
): string | null {
  const unknown = Object.keys(options).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    return `${kind} has no option "${unknown}"; allowed: ${allowed.join(', ') || 'none'}`;
  const { days } = options;
  if (days !== undefined && !(Number.isInteger(days) && Number(days) >= 1 && Number(days) <= MAX_DAYS))
    return `the option "days" must be a whole number from 1 to ${MAX_DAYS}`;
  if (importer === 'json' && options.map === undefined)
    return 'json needs a path map: --options FILE with {"map": {"values": [{"path": "…"}]}}';
  try {
    createImporter(importer, options);
    return null;
  } catch (error) {
    if (error instanceof UnreadableInput) return error.message;
    throw error;
  }
}
