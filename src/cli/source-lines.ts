import type { Lifetimes } from '../model/statement.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import type { Counts, DelistingCounts, StoredSource } from '../sources/source-settings.ts';
import { minute } from './output.ts';

/** Returns the lines that show a source and its health. */
export function sourceLines(source: StoredSource): string[] {
  const { name, kind, address, defaults, lifetimes, isSnapshotList, hasCredentials, health } = source;
  const lines = [`${name}  (${kind})  ${stateOf(source)}`];
  if (address) lines.push(`  ${address}${hasCredentials ? ' · with credentials' : ''}`);
  lines.push(
    `  TLP:${defaults.tlp} · confidence ${defaults.confidence} · severity ${defaults.severity} · kept ${keptFor(lifetimes)}${isSnapshotList ? ' · a list' : ''}`,
  );
  if (health.lastRunAt)
    lines.push(`  last run ${minute(health.lastRunAt)}, last success ${minute(health.lastSuccessAt)}`);
  if (health.lastError) lines.push(`  ${health.errorsInARow} failed in a row: ${health.lastError}`);
  if (health.lastCounts) lines.push(`  ${countsLine(health.lastCounts)}`);
  return lines;
}

function keptFor(lifetimes: Lifetimes): string {
  const all = Object.entries(lifetimes);
  const days = (seconds: number) => `${Math.round((seconds / 86_400) * 10) / 10} days`;
  const [first] = all;
  if (!first) return 'for good';
  if (all.length === INDICATOR_TYPES.length && all.every(([, seconds]) => seconds === first[1]))
    return days(first[1]);
  return all.map(([type, seconds]) => `${type} ${days(seconds)}`).join(', ');
}

function stateOf({ address, enabled, intervalSeconds, health }: StoredSource): string {
  if (!address) return 'imported by hand';
  if (!enabled) return 'disabled';
  if (intervalSeconds === null) return 'fetched on demand';
  return `every ${Math.round(intervalSeconds / 60)} min, next ${minute(health.nextRunAt)}`;
}

export function countsLine(counts: NonNullable<StoredSource['health']['lastCounts']>): string {
  const { others } = counts;
  const formatCounts = (of: Counts) =>
    `new ${of.new}, updated ${of.updated}, unchanged ${of.unchanged}, rejected ${of.rejected}`;
  const beside = others.read > 0 ? ` Other objects: ${formatCounts(others)}.` : '';
  const left = counts.left > 0 ? `, left the list ${counts.left}` : '';
  return `indicators: read ${counts.read}, ${formatCounts(counts)}${left}.${beside}${guardWords(counts)}`;
}

function guardWords({
  heldBack = 0,
  heldBackFeeds = [],
  unguardedFeeds = [],
}: Partial<DelistingCounts>): string {
  const held = heldBack > 0 ? ` Held back ${heldBack}, not delisted: feeds ${heldBackFeeds.join(', ')}.` : '';
  const without = ` Not guarded, because their definition is not valid: feeds ${unguardedFeeds.join(', ')}.`;
  return held + (unguardedFeeds.length > 0 ? without : '');
}
