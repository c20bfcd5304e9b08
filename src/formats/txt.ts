import { addressCollapser } from './collapse-addresses.ts';
import { firstSeenLines } from './first-seen-lines.ts';
import type { ExportFormat, ExportIndicator, ExportOptions } from './format.ts';
import { LIST_STYLES } from './txt-styles.ts';

/**
 * One value a line, for firewalls' external lists: addresses first, neighbours joined into networks, then everything
 * else in the list's order, as the style has it. Lists hold one kind of value as a rule; the caller chooses it.
 */
export function txtFormat({ style }: Pick<ExportOptions, 'style'>): ExportFormat {
  const { types, lines, comments } = LIST_STYLES[style];
  return {
    mediaType: 'text/plain; charset=utf-8',
    extension: 'txt',
    types,
    detectionOnly: true,
    order: 'address',
    columns: ['type', 'value'],
    reads: {},
    async *write(batches) {
      const collapser = addressCollapser();
      const isFirst = firstSeenLines();
      let leftOut = 0;
      for await (const batch of batches) {
        const piece: string[] = [];
        for (const row of batch) {
          if (isAddress(row)) {
            piece.push(...collapser.add(row.value));
            continue;
          }
          piece.push(...collapser.end());
          const written = lines(row);
          if (written.length === 0) leftOut++;
          // Only URLs lose something that told them apart; of the others each value is there once.
          piece.push(...(row.type === 'URL' ? written.filter(isFirst) : written));
        }
        if (piece.length > 0) yield `${piece.join('\n')}\n`;
      }
      const rest = collapser.end();
      if (rest.length > 0) yield `${rest.join('\n')}\n`;
      if (comments && leftOut > 0) yield `# left out: ${leftOut} values that such a list cannot hold\n`;
    },
  };
}

function isAddress({ type }: ExportIndicator): boolean {
  return type === 'IPV4' || type === 'IPV6';
}
