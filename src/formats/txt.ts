import { isBlock } from '../model/address-ranges.ts';
import type { CopiedRows } from '../model/copied-rows.ts';
import { addressCollapser, type PartsLimit, UNLIMITED } from './collapse-addresses.ts';
import { BACKSLASH, copiedRows, LF, type PlainRow, placeOf, TAB } from './copied-rows.ts';
import {
  type ExportFormat,
  type ExportIndicator,
  type ExportOptions,
  type FormatEntry,
  type ListOptions,
  TXT_STYLES,
} from './format.ts';
import { createLineDeduplicator } from './line-deduplicator.ts';
import { listedBlocks, widestFirst, widestOf } from './listed-blocks.ts';
import type { Skipped } from './skipped.ts';
import { LIST_STYLES } from './txt-styles.ts';

const POUND = 0x23;
/** The first letter of the names of the address types, and of no other type. */
const LETTER_I = 0x49;

/**
 * One value per line, for external lists of firewalls and others: addresses first, adjacent ones joined into
 * networks, then everything else, as the style writes it: the last added first or, with a limit, in the order
 * of the limit.
 */
export function txtFormat({ list }: Pick<ExportOptions, 'list'>): ExportFormat {
  const { types, columns, mediaType, extension } = LIST_STYLES[list.style];
  return {
    mediaType,
    extension,
    types,
    detectionOnly: true,
    skipsValues: true,
    order: LIST_STYLES[list.style].rejectsNested ? 'host' : 'address',
    columns,
    reads: {},
    async *write(batches, { rows }, skipped) {
      const writer = listWriter(list, rows, skipped);
      yield writer.begin();
      for await (const batch of batches) {
        const text = batch.map(writer.linesOf).join('');
        if (text !== '') yield text;
      }
      yield writer.end();
    },
    ...(list.style === 'plain' && {
      writeCopied: (pieces, toRow, { rows }, skipped) =>
        plainFromCopy(listWriter(list, rows, skipped), pieces, toRow),
    }),
  };
}

export const txt: FormatEntry = {
  label: 'Plain text list',
  purpose: 'external block lists of firewalls: one value per line',
  styles: TXT_STYLES,
  options: ['style', 'collapse', 'wildcards'],
  example: '185.132.17.160\n',
  open: txtFormat,
};

/** Writes each address and network on lines of its own, in the order of arrival. */
function notCollapsed() {
  let leftOut = 0;
  return {
    add(value: string, whitelistedParts: readonly string[] = [], limit: PartsLimit = UNLIMITED) {
      const blocks = listedBlocks({ value, whitelistedParts }, NOT_COUNTED);
      const listed = widestOf(blocks, whitelistedParts.length === 0 ? blocks.length : limit.room);
      if (listed.length < blocks.length) limit.onCut();
      if (listed.length > 0) leftOut += whitelistedParts.length;
      return [...listed];
    },
    hasPending: () => false,
    end: (): string[] => [],
    leftOut: () => leftOut,
  };
}

const NOT_COUNTED = { addParts: () => {} };

/**
 * Returns a writer that takes rows in the format's order, one after the other.
 * @param rows how many follow
 */
function listWriter(options: ListOptions, rows: number, skipped: Skipped) {
  const { style, kind, collapse, maxLines } = options;
  const { header, footer, lines, blockLines, networks, comments, rejectsNested, rejectsRepeated } =
    LIST_STYLES[style];
  const collapser = collapse ? addressCollapser() : notCollapsed();
  const isFirst = createLineDeduplicator();
  let isBetweenAddresses = true;
  let room = maxLines ?? Number.POSITIVE_INFINITY;
  let isCut = false;
  let rowsToCome = rows;
  /** How many lines a network of several may have: it must not displace later rows, which may have a higher confidence. */
  const roomForParts = () => room - rowsToCome;
  const onCut = () => skipped.add('limit');
  /** Of a network with more lines than that, returns those of its widest blocks. */
  const fitting = (row: ExportIndicator, all: readonly string[]): readonly string[] => {
    if (!isAddress(row) || all.length <= Math.max(1, roomForParts())) return all;
    onCut();
    const chosen = new Set<string>();
    for (const value of widestFirst(listedBlocks(row, NOT_COUNTED))) {
      const block = lines({ ...row, value, whitelistedParts: [] }, options, skipped);
      if ('skipped' in block || chosen.size + block.length > roomForParts()) continue;
      for (const line of block) chosen.add(line);
    }
    return all.filter((line) => chosen.has(line));
  };
  /** Joined networks may be wider than a line can have, and then need more lines than there are indicators. */
  const withinLimit = (all: string[]) => {
    const listed = rejectsRepeated && !collapse ? all.filter(isFirst) : all;
    if (listed.length > room && !isCut) skipped.add('limit');
    isCut ||= listed.length > room;
    const within = listed.slice(0, room);
    room -= within.length;
    return blockLines ? within.flatMap(linesOfBlock) : within;
  };
  let lastBlock: string | null = null;
  const linesOfBlock = (block: string) => {
    const written = blockLines?.(block, lastBlock) ?? [block];
    lastBlock = block;
    return written;
  };
  /** The last entry that includes all names below it, where the list must not have these: they follow it directly. */
  let covering: string | null = null;
  /** Whether a network has been written, which may contain later addresses. */
  let hasNetworks = false;
  const linesOf = (row: ExportIndicator) => {
    const { parts } = skipped;
    const all = lines(row, options, skipped);
    if ('skipped' in all) {
      skipped.add(all.skipped);
      return [];
    }
    const written = fitting(row, all);
    if (written.length === 0) skipped.parts = parts;
    // Only URLs, and only in firewalls' notations, lose a part that distinguishes them.
    let others = row.type === 'URL' && style !== 'plain' ? written.filter(isFirst) : [...written];
    hasNetworks ||= isAddress(row) && isBlock(row.value);
    // Keys are unique.
    if (style === 'wazuh' && hasNetworks && isAddress(row))
      others = written.filter((line) => isFirst(line.slice(0, line.lastIndexOf(':'))));
    if (rejectsNested) {
      if (covering !== null && others.every((line) => line.endsWith(covering ?? ''))) return [];
      covering = others.find((line) => line.startsWith('.')) ?? covering;
    }
    // Domains one below the other have the same exceptions.
    const hasParts = row.whitelistedParts.length > 0;
    if (row.type === 'DOMAIN' && hasParts)
      others = others.filter((line, index) => index === 0 || isFirst(line));
    // A name that is listed with the names below it needs both lines.
    if (others.length > (others.length > 1 && hasParts ? roomForParts() : room)) {
      skipped.add('limit');
      skipped.parts = parts;
      return [];
    }
    room -= others.length;
    return others;
  };
  return {
    /** Returns whether more addresses may follow, or some are still to be written. */
    isBetweenAddresses: () => isBetweenAddresses,
    hasPending: collapser.hasPending,
    addressLines(address: string): string {
      rowsToCome -= 1;
      return text(withinLimit(collapser.add(address)));
    },
    begin: () => text(header ? [header(kind)] : []),
    linesOf(row: ExportIndicator): string {
      rowsToCome -= 1;
      isBetweenAddresses = isAddress(row);
      if (isBetweenAddresses && networks) {
        const { value, whitelistedParts } = row;
        const listed = collapser.add(value, whitelistedParts, { room: roomForParts(), onCut });
        skipped.parts = collapser.leftOut();
        return text(withinLimit(listed));
      }
      return text([...withinLimit(collapser.end()), ...linesOf(row)]);
    },
    end(): string {
      const last = text(withinLimit(collapser.end()));
      return last + text(footer?.(lastBlock) ?? []) + (comments ? skipped.comment('#') : '');
    },
  };
}

async function* plainFromCopy(
  writer: ReturnType<typeof listWriter>,
  pieces: AsyncIterable<CopiedRows>,
  toRow: (line: string) => ExportIndicator,
) {
  yield* copiedRows(pieces, valueFromCopy(writer), (row) => writer.linesOf(toRow(row)));
  yield writer.end();
}

/** Copies a value unchanged, once the addresses are written. */
function valueFromCopy({
  isBetweenAddresses,
  hasPending,
  addressLines,
}: ReturnType<typeof listWriter>): PlainRow {
  return (source, from, target, to) => {
    let [i, o] = [placeOf(TAB, source, from) + 1, to];
    if (isBetweenAddresses()) {
      if (source[from] !== LETTER_I || hasPending()) return -1;
      const end = placeOf(TAB, source, i);
      // Of a network, parts may be left out.
      if (source[end + 1] !== LF) return -1;
      const lines = addressLines(source.toString('latin1', i, end));
      return lines === '' ? to : to + target.write(lines, to, 'latin1');
    }
    if (source[i] === POUND) return -1;
    for (let byte = source[i] as number; byte !== TAB; byte = source[++i] as number) {
      if (byte === BACKSLASH) return -1;
      target[o++] = byte;
    }
    target[o++] = LF;
    return o;
  };
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function isAddress({ type }: ExportIndicator): boolean {
  return type === 'IPV4' || type === 'IPV6';
}
