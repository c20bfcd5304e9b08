import type { Counted } from '../imports/counts.ts';
import type { RestorePreview } from '../imports/restore.service.ts';
import { PLURALS } from './import-summary.ts';

/** Returns the lines that show what an undo or a removal would change, with counts. */
export function previewLines({ kinds, shown }: RestorePreview): string[] {
  const counted = Object.entries(kinds) as [Counted, NonNullable<RestorePreview['kinds'][Counted]>][];
  if (counted.length === 0) return ['It would change nothing.'];
  const columns = ['reverted', 'of these hidden', 'unchanged'];
  const lines = [''.padEnd(15) + columns.map((column) => column.padStart(17)).join('')];
  for (const [kind, { restored, withdrawn, restated }] of counted) {
    const numbers = [restored, withdrawn, restated].map((number) => String(number).padStart(17));
    lines.push(PLURALS[kind].padEnd(15) + numbers.join(''));
  }
  lines.push(
    '',
    'Reverted: the previous statements of the source apply again. Hidden: no source is left.',
    'Unchanged: a later import of the same source states it again.',
  );
  const difference = shown.after - shown.before;
  lines.push('', `Visible indicators: ${shown.before} now, ${shown.after} after (${signed(difference)}).`);
  return lines;
}

const signed = (number: number) => (number > 0 ? `+${number}` : String(number));
