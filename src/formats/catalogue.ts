import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';
import { csv } from './csv.ts';
import { ecs } from './ecs.ts';
import {
  ARCHIVE_STYLES,
  type ExportFormat,
  type ExportOptions,
  type FormatEntry,
  type GivenOptions,
  type ListOptions,
  type Style,
  TXT_STYLES,
} from './format.ts';
import { misp } from './misp.ts';
import { ndjson } from './ndjson.ts';
import { rpz } from './rpz.ts';
import { snort } from './snort.ts';
import { stix } from './stix.ts';
import { suricata } from './suricata.ts';
import { txt } from './txt.ts';
import { LIST_STYLES } from './txt-styles.ts';
import { zeek } from './zeek.ts';

/** The export formats by name: those of the contract in its order, then additional ones. */
export const FORMATS = {
  csv,
  stix,
  misp,
  snort,
  zeek,
  suricata,
  txt,
  rpz,
  ndjson,
  ecs,
} satisfies Record<string, FormatEntry>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as [FormatName, ...FormatName[]];

export const DEFAULT_OPTIONS: ExportOptions = {
  csvGuard: true,
  list: { style: 'plain', kind: null, collapse: true, wildcards: true, maxLines: null },
  context: false,
  archive: null,
  group: null,
  ids: 'own',
  event: null,
  limit: null,
  publicAddress: null,
};

export function formatOf(name: FormatName, options: ExportOptions): ExportFormat {
  return FORMATS[name].open(options);
}

/** Returns a key that distinguishes a format and its options from all others. */
export function variantOf(name: FormatName, options: ExportOptions): string {
  // Without an event of its own the key is that of releases that had none: times of change are stored under it.
  const { event, ...others } = options;
  return JSON.stringify([name, event === null ? others : options]);
}

/**
 * Returns the options of an export. An option without effect on the format is an error, because the client
 * expects an effect.
 * @param types those that the filters allow; undefined: all
 */
export function optionsFor(
  format: string,
  given: GivenOptions,
  types: readonly IndicatorType[] | undefined,
  publicAddress: string | null,
): ExportOptions | { error: string } {
  for (const [name, value] of Object.entries(given)) {
    const formats = formatsWith(name);
    if (value === undefined || formats.includes(format)) continue;
    return { error: `${name} is for format ${formats.join(' or ')} only.` };
  }
  const { style } = given;
  if (style !== undefined && !stylesOf(format).includes(style))
    return { error: `style for format ${format} is ${stylesOf(format).join(' or ')}.` };
  const { limit, order } = given;
  if (order !== undefined && limit === undefined) return { error: 'order is for limit: give both.' };
  const list = format === 'txt' ? listOptions(given, types) : DEFAULT_OPTIONS.list;
  if ('error' in list) return list;
  return {
    csvGuard: given.csvGuard !== 'off',
    list,
    context: given.include === 'context',
    archive: ARCHIVE_STYLES.find((name) => name === style) ?? null,
    group: given.group ?? null,
    ids: given.ids ?? 'own',
    event: null,
    limit: limit === undefined ? null : { count: limit, order: order ?? 'confidence' },
    publicAddress,
  };
}

function stylesOf(format: string): readonly Style[] {
  const entry: FormatEntry | undefined = Object.hasOwn(FORMATS, format)
    ? FORMATS[format as FormatName]
    : undefined;
  return entry?.styles ?? [];
}

/** @returns the formats that take an option */
function formatsWith(option: string): string[] {
  if (option === 'limit' || option === 'order') return [...FORMAT_NAMES];
  return FORMAT_NAMES.filter((name) => FORMATS[name].options.some((one) => one === option));
}

function listOptions(
  { style: given, limit, collapse, wildcards }: GivenOptions,
  types: readonly IndicatorType[] | undefined,
): ListOptions | { error: string } {
  const style = TXT_STYLES.find((name) => name === given) ?? DEFAULT_OPTIONS.list.style;
  const { kinds, networks, wildcards: hasWildcards } = LIST_STYLES[style];
  const chosen = types ?? (kinds?.length === 1 ? kinds[0] : INDICATOR_TYPES) ?? [];
  const kind = kinds?.find((one) => chosen.length > 0 && chosen.every((type) => one.includes(type)));
  if (kinds && !kind)
    return {
      error: `style=${style} is a list of one kind of value: choose it with type or types, of ${spoken(kinds)}.`,
    };
  if (collapse === 'on' && !networks)
    return { error: `style=${style} lists single addresses: collapse=on is not for it.` };
  if (wildcards !== undefined && !(hasWildcards && kind?.[0] === 'DOMAIN'))
    return { error: `wildcards is for lists of domains with style=${withWildcards().join(' or ')}.` };
  return {
    style,
    kind: kind?.[0] ?? null,
    collapse: networks && collapse !== 'off',
    wildcards: wildcards !== 'off',
    maxLines: limit ?? null,
  };
}

const withWildcards = () => TXT_STYLES.filter((style) => LIST_STYLES[style].wildcards);

/** Such as "IPV4 and IPV6, DOMAIN or URL". */
function spoken(kinds: readonly (readonly IndicatorType[])[]): string {
  const each = kinds.map((types) => types.join(' and '));
  return each.length === 1 ? each.join() : `${each.slice(0, -1).join(', ')} or ${each.at(-1)}`;
}
