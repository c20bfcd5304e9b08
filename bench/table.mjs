/** Returns the results as a table in Markdown, preceded by a line about the machine. */
export function resultsTable({ rows, large, rounds, seconds, machine, results }) {
  const { cores, cpu, node, postgresql, redis, generator } = machine;
  const lines = results.map(({ row, work, tipline, limit, ratio, minRatio, maxRatio, met }) => {
    const target = minRatio === undefined ? `≤ ${maxRatio}` : `≥ ${minRatio}`;
    return `| ${row} | ${work} | ${tipline} | ${limit} | ${ratio.toFixed(2)} | ${target} | ${met ? 'yes' : 'no'} |`;
  });
  return [
    `${rows.toLocaleString('en')} indicators, ${large.toLocaleString('en')} in rows 6, 7, 12 and 13; ${cores} cores (${cpu}), Node ${node}, PostgreSQL ${postgresql}, Redis ${redis}, load from ${generator}; medians of ${rounds} × ${seconds} s.`,
    '',
    '| # | work | Tipline | reference | ratio | target | met |',
    '|--:|---|--:|--:|--:|--:|---|',
    ...lines,
  ].join('\n');
}
