// Builds the documentation as a site that needs no network: node scripts/docs.mjs [DIRECTORY], by default
// dist.docs, with the files in `site/` and an archive of them. Needs `npm ci --prefix site`, and Node.js 22.12 or newer.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { brokenLinks } from './docs/check-links.mjs';
import { llmsFull, llmsIndex } from './docs/llms.mjs';
import { sitePage } from './docs/markdown.mjs';
import { readSections, root } from './docs/pages.mjs';
import { makeRelative } from './docs/relative.mjs';
import { lastChange } from './last-change.mjs';

requireGenerator();
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const generator = join(root, 'site');
const target = resolve(process.argv[2] ?? join(root, 'dist.docs'));
const output = join(target, 'site');

const sections = readSections();
writeSources();
build();
makeRelative(output);
writeFileSync(join(output, 'llms.txt'), llmsIndex(sections));
writeFileSync(join(output, 'llms-full.txt'), llmsFull(sections));
const broken = brokenLinks(output);
for (const link of broken) console.error(link);
if (broken.length > 0) process.exit(1);
console.log(output);
console.log(archive());

/** Ends the script when Node.js is too old for the generator, or the generator is not installed. */
function requireGenerator() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const problem =
    major < 22 || (major === 22 && minor < 12)
      ? `The site needs Node.js 22.12 or newer to be built; this is ${process.versions.node}.`
      : existsSync(join(root, 'site/node_modules'))
        ? null
        : 'The generator is not installed: run npm ci --ignore-scripts --prefix site.';
  if (problem === null) return;
  console.error(problem);
  process.exit(1);
}

/** Writes the pages, and the files that they link to, to where Astro reads them. */
function writeSources() {
  const content = join(generator, 'src/content/docs');
  const assets = join(generator, 'public');
  for (const directory of [content, assets]) rmSync(directory, { recursive: true, force: true });
  const pages = sections.flatMap((section) => section.pages);
  const sources = new Set(pages.map(({ source }) => source));
  cpSync(join(root, 'web/public/favicon.svg'), join(assets, 'favicon.svg'));
  for (const page of pages) {
    const file = join(content, `${page.route}.md`);
    const text = sitePage(page, (path) => sources.has(path), addFile);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  function addFile(path) {
    cpSync(join(root, path), join(assets, 'files', path));
  }
}

function build() {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(generator, 'node_modules/astro/bin/astro.mjs'), 'build', '--outDir', output],
    { cwd: generator, encoding: 'utf8', env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' } },
  );
  if (status !== 0) throw new Error(`The site cannot be built:\n${stdout}${stderr}`);
}

/** Packs the site, with the same bytes for the same files and commit. @returns the path */
function archive() {
  const name = `tipline-${version}-docs`;
  const tar = execFileSync(
    'tar',
    [
      '--sort=name',
      `--mtime=@${lastChange(root)}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=u=rwX,go=rX',
      `--transform=s#^site#${name}#`,
      '-cf',
      '-',
      'site',
    ],
    { cwd: target, maxBuffer: 1 << 28 },
  );
  const file = join(target, `${name}.tar.gz`);
  writeFileSync(file, gzipSync(tar, { level: 9 }));
  return file;
}
