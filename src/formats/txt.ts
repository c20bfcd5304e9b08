import { addressCollapser } from './collapse-addresses.ts';
import { BACKSLASH, copiedRows, LF, type PlainRow, placeOf, TAB } from './copied-rows.ts';
import { firstSeenLines } from './first-seen-lines.ts';
import type { ExportFormat, ExportIndicator, ExportOptions, TxtStyle } from './format.ts';
import { LIST_STYLES } from './txt-styles.ts';

const POUND = 0x23;

/**
 * One value a line, for firewalls' external lists: addresses first, neighbours joined into networks, then everything
 * else in the list's order, as the style has it. Lists hold one kind of value as a rule; the caller chooses it.
 */
export function txtFormat({ style }: Pick<ExportOptions, 'style'>): ExportFormat {
  return {
    mediaType: 'text/plain; charset=utf-8',
    extension: 'txt',
    types: LIST_STYLES[style].types,
    detectionOnly: true,
    order: 'address',
    columns: ['type', 'value'],
    reads: {},
    async *write(batches) {
      const writer = listWriter(style);
      for await (const batch of batches) {
        const text = batch.map(writer.linesOf).join('');
        if (text !== '') yield text;
      }
      yield writer.end();
    },
    ...(style === 'plain' && { writeCopied: plainFromCopy }),
  };
}

/** Takes rows in the format's order, one after the other. */
function listWriter(style: TxtStyle) {
  const { lines, comments } = LIST_STYLES[style];
  const collapser = addressCollapser();
  const isFirst = firstSeenLines();
  let isBetweenAddresses = true;
  let leftOut = 0;
  const othersOf = (row: ExportIndicator) => {
    const written = lines(row);
    if (written.length === 0) leftOut++;
    // Only URLs, and only in firewalls' notations, lose something that told them apart.
    return row.type === 'URL' && style !== 'plain' ? written.filter(isFirst) : written;
  };
  return {
    /** Whether addresses may follow, or are still to be written. */
    isBetweenAddresses: () => isBetweenAddresses,
    linesOf(row: ExportIndicator): string {
      isBetweenAddresses = isAddress(row);
      return text(isBetweenAddresses ? collapser.add(row.value) : [...collapser.end(), ...othersOf(row)]);
    },
    end(): string {
      const comment = `# left out: ${leftOut} values that such a list cannot hold`;
      return text([...collapser.end(), ...(comments && leftOut > 0 ? [comment] : [])]);
    },
  };
}

async function* plainFromCopy(chunks: AsyncIterable<Uint8Array>, toRow: (line: string) => ExportIndicator) {
  const writer = listWriter('plain');
  yield* copiedRows(chunks, valueFromCopy(writer.isBetweenAddresses), (row) => writer.linesOf(toRow(row)));
  yield writer.end();
}

/** A value as it stands, once the addresses are written. */
function valueFromCopy(isBetweenAddresses: () => boolean): PlainRow {
  return (source, from, target, to) => {
    if (isBetweenAddresses()) return -1;
    let [i, o] = [placeOf(TAB, source, from) + 1, to];
    if (source[i] === POUND) return -1;
    for (let byte = source[i] as number; byte !== LF; byte = source[++i] as number) {
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
