// Packs the Helm chart as `helm package` does: node scripts/chart.mjs [DIRECTORY], by default dist.chart.
// The same files give the same bytes.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../', import.meta.url));
const chart = join(root, 'packaging/helm/tipline');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const BLOCK = 512;
/** The time of all files, in seconds: that of npm's packages. */
const TIME = Date.UTC(1985, 9, 26, 8, 15) / 1000;

const target = resolve(process.argv[2] ?? join(root, 'dist.chart'));
mkdirSync(target, { recursive: true });
const file = join(target, `tipline-${version}-chart.tgz`);
const entries = files().flatMap((path) => entry(`tipline/${path}`, readFileSync(join(chart, path))));
writeFileSync(file, gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]), { level: 9 }));
console.log(file);

/** Returns the paths of the files in the chart; Helm reads Chart.yaml first. */
function files() {
  const paths = readdirSync(chart, { recursive: true }).filter((path) =>
    statSync(join(chart, path)).isFile(),
  );
  return ['Chart.yaml', ...paths.filter((path) => path !== 'Chart.yaml').sort()];
}

/** Returns the blocks of a file in a tar archive (POSIX.1-1988, ustar). */
function entry(path, content) {
  const header = Buffer.alloc(BLOCK);
  const octal = (number, length) => `${number.toString(8).padStart(length - 1, '0')}\0`;
  const fields = [
    [0, path],
    [100, octal(0o644, 8)],
    [108, octal(0, 8)],
    [116, octal(0, 8)],
    [124, octal(content.length, 12)],
    [136, octal(TIME, 12)],
    // The checksum is computed with blanks in its place.
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\x0000'],
  ];
  if (Buffer.byteLength(path) > 100) throw new Error(`The path ${path} is longer than 100 bytes.`);
  for (const [offset, text] of fields) header.write(text, offset);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, content, Buffer.alloc(-content.length & (BLOCK - 1))];
}
