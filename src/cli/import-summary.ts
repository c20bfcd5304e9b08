import { type Counted, emptyCounts, type ImportCounts } from '../imports/counts.ts';

export const PLURALS: Record<Counted, string> = {
  indicator: 'indicators',
  actor: 'actors',
  campaign: 'campaigns',
  technique: 'techniques',
  software: 'software',
  report: 'reports',
  relationship: 'relationships',
};

/** Returns the counts of indicators, with those of each other kind in the files as members. */
export function summaryObject({ kinds, hidden }: ImportCounts): Record<string, unknown> {
  const others = [...kinds]
    .filter(([kind]) => kind !== 'indicator')
    .map(([kind, counts]) => [PLURALS[kind], counts]);
  return { ...(kinds.get('indicator') ?? emptyCounts()), hidden, ...Object.fromEntries(others) };
}

export function summaryLines({ kinds, examples, hidden }: ImportCounts): string[] {
  const columns = ['read', 'new', 'updated', 'unchanged', 'rejected'] as const;
  const lines = [''.padEnd(15) + columns.map((column) => column.padStart(11)).join('')];
  for (const kind of Object.keys(PLURALS) as Counted[]) {
    const counts = kinds.get(kind);
    if (!counts && kind !== 'indicator') continue;
    const numbers = columns.map((column) => String((counts ?? emptyCounts())[column]).padStart(11));
    lines.push(PLURALS[kind].padEnd(15) + numbers.join(''));
  }
  if (hidden > 0) lines.push('', `Of the new and updated indicators the whitelist hides ${hidden}.`);
  for (const [kind, { reasons }] of kinds) {
    const sorted = Object.entries(reasons).sort(([, a], [, b]) => b - a);
    if (sorted.length > 0) lines.push('', `Rejected ${PLURALS[kind]}:`);
    for (const [reason, count] of sorted) lines.push(`${String(count).padStart(8)}  ${reason}`);
  }
  if (examples.length > 0) lines.push('', 'For example:');
  for (const { where, reason } of examples.slice(0, 5)) lines.push(`  ${where}: ${reason}`);
  return lines;
}
