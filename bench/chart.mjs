/** How far each ratio is from what is asked of it, as SVG: a bar that comes to the line has reached it. */
export function chart({ results }) {
  const [left, width, height, most] = [330, 420, 18, 2];
  const scale = (share) => (Math.min(share, most) / most) * width;
  const escape = (text) => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  const bars = results.map(({ row, work, ratio, least, most: bound, reached }, i) => {
    const share = least === undefined ? bound / ratio : ratio / least;
    const y = 30 + i * height;
    return [
      `<text x="${left - 8}" y="${y + 12}" text-anchor="end">${row} ${escape(work)}</text>`,
      `<rect x="${left}" y="${y + 2}" width="${scale(share).toFixed(1)}" height="${height - 5}" fill="${reached ? '#2f7d5b' : '#b4532a'}"/>`,
      `<text x="${left + scale(share) + 6}" y="${y + 12}">${ratio.toFixed(2)}</text>`,
    ].join('');
  });
  const line = left + scale(1);
  const bottom = 34 + results.length * height;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 60}" height="${bottom + 10}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#fff"/>
<text x="${line}" y="18" text-anchor="middle">what is asked</text>
${bars.join('\n')}
<line x1="${line}" x2="${line}" y1="24" y2="${bottom}" stroke="#222"/>
</svg>
`;
}
