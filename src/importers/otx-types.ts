import type { NormalizeResult } from '../model/normalize-result.ts';
import { normalizeAs, normalizeNamed } from './csv-types.ts';
import { type Fields, field, RecordRejected, textOf } from './record-fields.ts';

/**
 * Returns the observable of a pulse's indicator; an unsupported type (`YARA`, `JA3`, …) is rejected by its
 * name.
 */
export function observableOf(indicator: Fields): NormalizeResult {
  const type = textOf(field(indicator, 'type'));
  const value = textOf(field(indicator, 'indicator'));
  if (type === null) throw new RecordRejected('no type');
  if (value === null) throw new RecordRejected('no value');
  // A network is not an address: it is normalized as one so that the rejection states this.
  return type.toUpperCase() === 'CIDR' ? normalizeAs('address', value) : normalizeNamed(type, value);
}
