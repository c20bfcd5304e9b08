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
/** Saves the names, of which there may be a million, a closer look. */
const MAY_BE_ADDRESS = /:|\d$/;
/** A dot before a name, or `*.`: the names below it are meant. */
const ABOVE_NAMES = /^(?:\*\.|\.)/;

/**
 * The rules of an entry in a list of a kind that applies to these types, or why there is none: short and fixed, without the
 * entry. Letter case, trailing dots and whatever else `normalize` makes one are made one here too.
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
 * A string is read as a value of each type of the list. One that is a name or an address is sought as a host too, and with a
 * dot before it (`.google.com`) it means what is below the name as well: MISP, which compares to the letter, never finds these.
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

/** What is found as a host already needs no second rule. */
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
