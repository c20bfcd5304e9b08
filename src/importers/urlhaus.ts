import { normalize } from '../model/normalize.ts';
import { abuseChImporter, abuseChTags, firstDateOf } from './abusech.ts';
import type { RecordResult } from './json-feed.ts';
import { indicatorRecord } from './observation.ts';
import { type Fields, field, RecordRejected, textOf } from './record-fields.ts';

/**
 * Imports URLhaus: a response of `urls/recent` (`date_added`), its JSON exports (`dateadded`, `last_online`),
 * or its CSV.
 */
export const urlhausImporter = abuseChImporter({
  name: 'urlhaus',
  label: 'abuse.ch URLhaus',
  list: 'urls',
  recognizes: (head) => /"url_status"\s*:/.test(head) && /"(urlhaus_link|urlhaus_reference)"\s*:/.test(head),
  readRecord,
});

/** A URL that is offline now has served malware: it remains an indicator. */
function readRecord(record: Fields): RecordResult[] {
  const url = textOf(field(record, 'url'));
  if (url === null) throw new RecordRejected('no value');
  const stated = {
    tags: abuseChTags(record, 'threat'),
    firstSeen: firstDateOf(record, 'dateadded', 'date_added'),
    lastSeen: firstDateOf(record, 'last_online'),
  };
  return [indicatorRecord(normalize('URL', url), stated)];
}
