import { detectType } from '../../model/detect-type.ts';
import { normalize } from '../../model/normalize.ts';
import { refang } from '../../model/refang.ts';
import { readText } from '../../model/text.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import { readExpression } from './expression.ts';
import type { ListKind } from './list-kind.ts';
import { isReservedName, PUBLIC_SUFFIX, readName } from './name-entry.ts';
import { isNetworkText, readNetwork } from './network.ts';

export interface OperatorEntryRule {
  kind: ListKind;
  /** In canonical form, so that two spellings of one entry are equal. */
  entry: string;
  types: readonly IndicatorType[];
}

type Result = OperatorEntryRule | { rejected: string };

const OF_A_NAME: readonly IndicatorType[] = ['DOMAIN', 'URL', 'EMAIL'];
const OF_A_NETWORK: readonly IndicatorType[] = ['IPV4', 'IPV6', 'URL'];

/**
 * Parses an entry that an operator typed, defanged or not:
 * - an address or a network: it, and URLs with such a host;
 * - `example.com`: the name and the names below, with URLs and e-mail addresses there; `*.example.com`: the
 *   names below alone; `=example.com`: the name alone, with its URLs and e-mail addresses;
 * - `/pattern/i`: every value that matches;
 * - an e-mail address, a URL, a hash, a CVE, an AS number, a Bitcoin address, a registry key: exactly that
 *   value.
 *
 * A file name, a mutex and a user agent cannot be recognized by their form, and a name outside the public DNS
 * (`intranet.corp`) cannot be distinguished from a file name: these need `type`.
 */
export function parseOperatorEntry(text: string, type?: IndicatorType): Result {
  const read = readText(text);
  if ('rejected' in read) return read;
  if (type !== undefined) return readAs(type, read.text);
  if (read.text.startsWith('/')) return readPattern(read.text);
  const plain = refang(read.text);
  if (plain === null || plain === '') return { rejected: 'nested defanging' };
  if (plain.startsWith('=')) return readNameAlone(plain.slice(1));
  if (plain.startsWith('*.')) return readNames(plain);
  if (isNetworkText(plain)) return readAddresses(plain);
  const detected = detectType(plain);
  if (detected !== null) return readAs(detected, plain);
  const name = readName(plain, 'itself and below');
  if ('rejected' in name ? name.rejected === PUBLIC_SUFFIX : isReservedName(name.name))
    return readNames(plain);
  return { rejected: 'neither a name nor a value whose type can be told' };
}

function readAs(type: IndicatorType, text: string): Result {
  if (type === 'DOMAIN') return readNames(text);
  if (type === 'IPV4' || type === 'IPV6') return readAddresses(refang(text) ?? '');
  const result = normalize(type, text);
  return 'rejected' in result ? result : { kind: 'string', entry: result.normalized, types: [result.type] };
}

function readAddresses(text: string): Result {
  const network = readNetwork(text);
  return 'rejected' in network ? network : { kind: 'cidr', entry: network.text, types: OF_A_NETWORK };
}

function readNames(text: string): Result {
  const name = readName(refang(text) ?? '', 'itself and below');
  if ('rejected' in name) return name;
  return { kind: 'hostname', entry: name.reach === 'below' ? `*.${name.name}` : name.name, types: OF_A_NAME };
}

function readNameAlone(text: string): Result {
  const name = normalize('DOMAIN', text);
  return 'rejected' in name ? name : { kind: 'string', entry: name.normalized, types: OF_A_NAME };
}

function readPattern(text: string): Result {
  const result = readExpression(text, INDICATOR_TYPES);
  return 'rejected' in result ? result : { kind: 'regex', entry: text, types: INDICATOR_TYPES };
}
