import type { ImporterKind } from '../importers/named.ts';
import { fetchFile } from './fetch-file.ts';
import { fetchMispFeed } from './fetch-misp-feed.ts';
import { fetchOtx } from './fetch-otx.ts';
import { fetchTaxii } from './fetch-taxii.ts';
import type { Fetcher } from './fetching.ts';
import type { FeedKind } from './source-settings.ts';

/** What is particular to a kind of feed. */
export interface FeedRules {
  /** For people. */
  title: string;
  /** null: the operator has to say. */
  address: string | null;
  /** The header that its key goes into; null: it needs none, or any. */
  keyHeader: string | null;
  keyNeeded: boolean;
  everySeconds: number;
  /** It is a list without dates. */
  membership: boolean;
  importer: ImporterKind;
  fetch: Fetcher;
}

const HOUR = 3600;

const file = {
  title: '',
  address: null,
  keyHeader: null,
  keyNeeded: false,
  everySeconds: HOUR,
  membership: false,
  fetch: fetchFile,
};

/** ThreatFox and MalwareBazaar answer a question that is posted (https://threatfox.abuse.ch/api, https://bazaar.abuse.ch/api). */
export const FEED_RULES: Record<FeedKind, FeedRules> = {
  urlhaus: {
    ...file,
    title: 'abuse.ch URLhaus, URLs of the last three days',
    address: 'https://urlhaus-api.abuse.ch/v1/urls/recent/',
    keyHeader: 'auth-key',
    keyNeeded: true,
    everySeconds: HOUR / 12,
    importer: 'urlhaus',
  },
  threatfox: {
    ...file,
    title: 'abuse.ch ThreatFox, indicators of the last days',
    address: 'https://threatfox-api.abuse.ch/api/v1/',
    keyHeader: 'auth-key',
    keyNeeded: true,
    importer: 'threatfox',
    fetch: (context) =>
      fetchFile(context, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'get_iocs', days: context.source.options.days ?? 3 }),
      }),
  },
  malwarebazaar: {
    ...file,
    title: 'abuse.ch MalwareBazaar, samples of the last hour',
    address: 'https://mb-api.abuse.ch/api/v1/',
    keyHeader: 'auth-key',
    keyNeeded: true,
    everySeconds: HOUR / 2,
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
    title: 'abuse.ch Feodo Tracker, botnet command-and-control servers',
    address: 'https://feodotracker.abuse.ch/downloads/ipblocklist.json',
    keyHeader: 'auth-key',
    everySeconds: HOUR / 4,
    membership: true,
    importer: 'feodo',
  },
  kev: {
    ...file,
    title: 'CISA Known Exploited Vulnerabilities',
    address: 'https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json',
    everySeconds: 6 * HOUR,
    importer: 'kev',
  },
  otx: {
    ...file,
    title: 'LevelBlue OTX, the pulses one is subscribed to',
    address: 'https://otx.alienvault.com/api/v1/pulses/subscribed',
    keyHeader: 'x-otx-api-key',
    keyNeeded: true,
    importer: 'otx',
    fetch: fetchOtx,
  },
  taxii: { ...file, title: 'a TAXII 2.1 collection', importer: 'stix', fetch: fetchTaxii },
  misp: { ...file, title: 'a MISP feed', keyHeader: 'authorization', importer: 'misp', fetch: fetchMispFeed },
  stix: { ...file, title: 'a STIX 2.0 or 2.1 bundle', importer: 'stix' },
  csv: { ...file, title: 'CSV', importer: 'csv' },
  json: { ...file, title: 'JSON or a JSON object a line', importer: 'json' },
  text: { ...file, title: 'a list, one value a line', membership: true, importer: 'text' },
};
