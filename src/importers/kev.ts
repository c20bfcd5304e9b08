import { normalize } from '../model/normalize.ts';
import { parseDate } from './dates.ts';
import { type Importer, UnreadableInput } from './importer.ts';
import { type RecordResult, readJsonFeed } from './json-feed.ts';
import type { JsonLimits } from './json-pieces.ts';
import { jsonShape } from './json-stream.ts';
import {
  dateOf,
  type Fields,
  field,
  indicatorRecord,
  isObject,
  RecordRejected,
  shortTextOf,
  tagsOf,
  textOf,
} from './record-fields.ts';

const LIMITS: JsonLimits = { lists: ['vulnerabilities'], maxBytes: 1024 * 1024, maxDepth: 16 };

/** CISA's catalogue of Known Exploited Vulnerabilities, as JSON. */
export const kevImporter: Importer = {
  name: 'kev',
  label: 'CISA KEV',

  recognizes(head) {
    return jsonShape(head)?.keys.has('vulnerabilities') === true && /"(cveID|catalogVersion)"\s*:/.test(head);
  },

  read(input) {
    return readJsonFeed(input, { limits: LIMITS, of: 'indicator', readRecord, checkRoot });
  },
};

function checkRoot(root: unknown): void {
  if (!isObject(root) || !Array.isArray(field(root, 'vulnerabilities')))
    throw new UnreadableInput('not the KEV catalogue: the root object has no array vulnerabilities');
}

/** Exploited in the wild is HIGH; with known use by ransomware, CRITICAL. */
function readRecord(entry: Fields): RecordResult[] {
  const cve = textOf(field(entry, 'cveID'));
  if (cve === null) throw new RecordRejected('no value');
  const isRansomware = textOf(field(entry, 'knownRansomwareCampaignUse'))?.toLowerCase() === 'known';
  const stated = {
    severity: isRansomware ? ('CRITICAL' as const) : ('HIGH' as const),
    tags: tagsOf(['kev'], isRansomware ? ['ransomware'] : [], [
      field(entry, 'vendorProject'),
      productOf(entry),
    ]),
    firstSeen: dateOf(entry, 'dateAdded'),
  };
  const kev = {
    dateAdded: dayOf(entry, 'dateAdded'),
    dueDate: dayOf(entry, 'dueDate'),
    knownRansomware: isRansomware,
    requiredAction: shortTextOf(field(entry, 'requiredAction')),
  };
  const made = indicatorRecord(normalize('CVE', cve), stated);
  if (!('rejected' in made)) made.kev = kev;
  return [made];
}

/** Returns a day; null: none that can be read, which is no reason to reject the entry. */
const dayOf = (entry: Fields, name: string) =>
  parseDate(textOf(field(entry, name)) ?? '')
    ?.toISOString()
    .slice(0, 10) ?? null;

/** Returns the product; null for `Multiple Products`, which names none. */
function productOf(entry: Fields): string | null {
  const product = textOf(field(entry, 'product'));
  return product === null || /^multiple\b/i.test(product) ? null : product;
}
