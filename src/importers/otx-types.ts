import type { NormalizeResult } from '../model/normalize-result.ts';
import { normalizeAs, normalizeNamed } from './csv-types.ts';
import { type Fields, field, RecordRejected, textOf } from './record-fields.ts';

/** What an indicator of a pulse observes; a type that has no place here (`YARA`, `JA3`, …) is rejected by its name. */
export function observableOf(indicator: Fields): NormalizeResult {
  const type = textOf(field(indicator, 'type'));
  const value = textOf(field(indicator, 'indicator'));
  if (type === null) throw new RecordRejected('no type');
  if (value === null) throw new RecordRejected('no value');
  // A network is no address, whatever it is called; the reason says so.
  return type.toUpperCase() === 'CIDR' ? normalizeAs('address', value) : normalizeNamed(type, value);
}
