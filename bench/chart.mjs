const escapeText = (text) => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);

/** Draws each ratio relative to its target as SVG: a bar that reaches the line meets the target. */
export function chart({ results }) {
  const [left, width, height, maxShare] = [330, 420, 18, 2];
  const scale = (share) => (Math.min(share, maxShare) / maxShare) * width;
  const bars = results.map(({ row, work, ratio, minRatio, maxRatio, met }, i) => {
    const share = minRatio === undefined ? maxRatio / ratio : ratio / minRatio;
    const y = 30 + i * height;
    return [
      `<text x="${left - 8}" y="${y + 12}" text-anchor="end">${row} ${escapeText(work)}</text>`,
      `<rect x="${left}" y="${y + 2}" width="${scale(share).toFixed(1)}" height="${height - 5}" fill="${met ? '#2f7d5b' : '#b4532a'}"/>`,
      `<text x="${left + scale(share) + 6}" y="${y + 12}">${ratio.toFixed(2)}</text>`,
    ].join('');
  });
  const line = left + scale(1);
  const bottom = 34 + results.length * height;
  return image(left + width + 60, bottom + 10, [
    `<text x="${line}" y="18" text-anchor="middle">target</text>`,
    ...bars,
    `<line x1="${line}" x2="${line}" y1="24" y2="${bottom}" stroke="#222"/>`,
  ]);
}

/** Draws the time of each query by number of indicators. Both scales are logarithmic; the dashed line is the target. */
export function growthChart({ sizes, queries }) {
  const [columns, cell, top, width, height] = [4, { width: 200, height: 130 }, 20, 150, 76];
  const [minGrowth, maxGrowth] = [0.5, 200];
  const along = (value, [from, to], length) => (Math.log(value / from) / Math.log(to / from)) * length;
  const x = (size) => 25 + along(size, [sizes[0], sizes.at(-1)], width);
  const y = (growth) =>
    top + height - along(Math.min(Math.max(growth, minGrowth), maxGrowth), [minGrowth, maxGrowth], height);
  const point = (ms, firstMs, i) => `${x(sizes[i]).toFixed(1)},${y(ms / firstMs).toFixed(1)}`;
  const cells = queries.map(({ name, ms, maxRatio }, i) => {
    const labels = ms.map(
      (each, at) =>
        `<text x="${x(sizes[at])}" y="${y(each / ms[0]) + 15}" text-anchor="middle">${each.toFixed(each < 10 ? 1 : 0)}</text>`,
    );
    const target = maxRatio
      ? `<line x1="25" x2="${25 + width}" y1="${y(maxRatio)}" y2="${y(maxRatio)}" stroke="#888" stroke-dasharray="3"/>`
      : '';
    return [
      `<g transform="translate(${(i % columns) * cell.width} ${20 + Math.floor(i / columns) * cell.height})">`,
      `<text x="25" y="14" font-weight="bold">${escapeText(name)}</text>${target}`,
      `<polyline points="${ms.map((each, at) => point(each, ms[0], at)).join(' ')}" fill="none" stroke="#2f7d5b" stroke-width="2"/>`,
      `${labels.join('')}</g>`,
    ].join('');
  });
  const sizeList = sizes.map((size) => size.toLocaleString('en')).join(', ');
  const rows = Math.ceil(queries.length / columns);
  return image(columns * cell.width, 30 + rows * cell.height, [
    `<text x="25" y="16">ms at ${sizeList} indicators</text>`,
    ...cells,
  ]);
}

function image(width, height, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#fff"/>
${parts.join('\n')}
</svg>
`;
}
