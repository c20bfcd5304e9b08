/** The results as a table in Markdown, with the machine over it. */
export function markdownTable({ rows, rounds, seconds, machine, results }) {
  const count = (number) => Math.round(number).toLocaleString('en');
  const time = (ms) => (ms < 10 ? ms.toFixed(1) : ms.toFixed(0));
  const each = results.map(({ name, total, bytes, ours, limit, ratio }) =>
    [
      name,
      total === null ? '' : count(total),
      count(bytes),
      ours.perSecond < 100 ? ours.perSecond.toFixed(1) : count(ours.perSecond),
      time(ours.p50Ms),
      time(ours.p99Ms),
      count(limit.perSecond),
      ratio.toFixed(ratio < 0.01 ? 4 : ratio < 0.1 ? 3 : 2),
    ].join(' | '),
  );
  return [
    `${count(rows)} indicators; ${machine.cores} cores (${machine.cpu}), Node ${machine.node}, PostgreSQL ${machine.postgresql}, Redis ${machine.redis}, load from ${machine.generator}; medians of ${rounds} × ${seconds} s.`,
    '',
    '| request | matches | bytes | requests/s | p50 ms | p99 ms | bare server/s | ratio |',
    '|---|--:|--:|--:|--:|--:|--:|--:|',
    ...each.map((line) => `| ${line} |`),
  ].join('\n');
}
