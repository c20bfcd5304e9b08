import { normalize } from '../../model/normalize.ts';
import { readText } from '../../model/text.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';
import { readExpression } from './expression.ts';
import type { ListKind } from './list-kind.ts';
import { type Reach, readName } from './name-entry.ts';
import { readNetwork } from './network.ts';
import type { Rule, Rules } from './rule.ts';
import { readSubstring } from './substring-entry.ts';

const NAMED: ReadonlySet<IndicatorType> = new Set(['DOMAIN', 'URL', 'EMAIL']);
const ADDRESSED: ReadonlySet<IndicatorType> = new Set(['IPV4', 'IPV6', 'URL']);
/** A cheap test before parsing an address: most entries are names, of which there may be a million. */
const MAY_BE_ADDRESS = /:|\d$/;
/** A leading dot or `*.`: the entry means the names below. */
const ABOVE_NAMES = /^(?:\*\.|\.)/;

/**
 * Returns the rules of an entry in a list of the given kind and types, or the reason why there are none:
 * short and fixed, without the entry. The entry is normalized in the same way as values, in letter case,
 * trailing dots and everything else that `normalize` unifies.
 */
export function readEntry(kind: ListKind, entry: string, types: readonly IndicatorType[]): Rules {
  const read = readText(entry);
  if ('rejected' in read) return read;
  switch (kind) {
    case 'string':
      return readString(read.text, types);
    case 'hostname':
      return readHost(read.text, 'itself and below');
    case 'cidr':
      return networkRule(read.text);
    case 'substring':
      return readSubstring(read.text);
    case 'regex': {
      const result = readExpression(read.text, types);
      return 'rejected' in result ? result : [{ by: 'expression', ...result }];
    }
  }
}

/**
 * Reads a string as a value of each type of the list. A name or an address is also matched as a host; with a
 * leading dot (`.google.com`) it also covers the names below. MISP compares literally and never matches such
 * entries.
 */
function readString(text: string, types: readonly IndicatorType[]): Rules {
  const host = types.some((type) => NAMED.has(type) || ADDRESSED.has(type)) ? stringHost(text, types) : [];
  const values = types.flatMap((type) => stringValue(type, text));
  if (!('rejected' in host)) {
    const rules = [...host, ...values];
    return rules.length > 0 ? rules : { rejected: 'no value of a type of the list' };
  }
  return values.length > 0 ? values : host;
}

function stringHost(text: string, types: readonly IndicatorType[]): Rules {
  const rules = readHost(text, ABOVE_NAMES.test(text) ? 'itself and below' : 'itself');
  if ('rejected' in rules) return rules;
  const possible = rules.some(({ by }) => by === 'network') ? ADDRESSED : NAMED;
  return types.some((type) => possible.has(type)) ? rules : [];
}

/** Returns no rule for types that the rule of the host covers already. */
function stringValue(type: IndicatorType, text: string): Rule[] {
  if (type === 'DOMAIN' || type === 'IPV4' || type === 'IPV6') return [];
  const result = normalize(type, text);
  return 'rejected' in result ? [] : [{ by: 'value', type: result.type, value: result.normalized }];
}

function readHost(text: string, reach: Reach): Rules {
  const network = MAY_BE_ADDRESS.test(text) ? readNetwork(text) : null;
  if (network !== null && !('rejected' in network)) return [{ by: 'network', network }];
  const name = readName(text, reach);
  return 'rejected' in name ? name : [{ by: 'name', ...name }];
}

function networkRule(text: string): Rules {
  const network = readNetwork(text);
  return 'rejected' in network ? network : [{ by: 'network', network }];
}
