import { normalize } from '../model/normalize.ts';
import { abuseChImporter, abuseChTags, firstDateOf } from './abusech.ts';
import { addressType } from './address-type.ts';
import type { RecordResult } from './json-feed.ts';
import { indicatorRecord } from './observation.ts';
import { type Fields, field, RecordRejected, textOf } from './record-fields.ts';

/** Imports Feodo Tracker: the list `ipblocklist.json`, or its CSV. */
export const feodoImporter = abuseChImporter({
  name: 'feodo',
  label: 'abuse.ch Feodo Tracker',
  list: 'data',
  recognizes: (head) => /"ip_address"\s*:/.test(head) && /"last_online"\s*:/.test(head),
  readRecord,
});

/** Ignores the host name: it is the provider's reverse DNS entry, not an indicator. */
function readRecord(record: Fields): RecordResult[] {
  const address = textOf(field(record, 'ip_address'));
  if (address === null) throw new RecordRejected('no value');
  const stated = {
    tags: abuseChTags(record, 'malware'),
    firstSeen: firstDateOf(record, 'first_seen'),
    lastSeen: firstDateOf(record, 'last_online'),
  };
  return [indicatorRecord(normalize(addressType(address), address), stated)];
}
