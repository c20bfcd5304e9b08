/** The results as a table in Markdown, with the machine over it. */
export function resultsTable({ rows, large, rounds, seconds, machine, results }) {
  const { cores, cpu, node, postgresql, redis, generator } = machine;
  const lines = results.map(({ row, work, ours, limit, ratio, least, most, reached }) => {
    const asked = least === undefined ? `≤ ${most}` : `≥ ${least}`;
    return `| ${row} | ${work} | ${ours} | ${limit} | ${ratio.toFixed(2)} | ${asked} | ${reached ? 'yes' : 'no'} |`;
  });
  return [
    `${rows.toLocaleString('en')} indicators, ${large.toLocaleString('en')} in rows 6, 7, 12 and 13; ${cores} cores (${cpu}), Node ${node}, PostgreSQL ${postgresql}, Redis ${redis}, load from ${generator}; medians of ${rounds} × ${seconds} s.`,
    '',
    '| # | work | ours | limit | ratio | asked | reached |',
    '|--:|---|--:|--:|--:|--:|---|',
    ...lines,
  ].join('\n');
}
