// Builds the container image with buildah or podman and writes it as an OCI archive with its bill of materials (CycloneDX):
//   node scripts/image.mjs [DIRECTORY] [OPTION…]    by default dist.image
// All from the first option on goes to `buildah build` or `podman build`, such as --build-arg BASE=registry.example.org/debian:trixie-slim.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastChange, lastCommit } from './last-change.mjs';
import { openImage } from './oci-image.mjs';
import { billOfMaterials, describesContents } from './sbom.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BUILDERS = ['buildah', 'podman'];
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const [directory, options] = argumentsOf(process.argv.slice(2));
const builder = BUILDERS.find((name) => spawnSync(name, ['--version']).status === 0);
if (!builder) {
  console.error(`Building the image needs one of these programs: ${BUILDERS.join(', ')}.`);
  process.exit(1);
}
const target = resolve(directory ?? join(root, 'dist.image'));
const archive = join(target, `tipline-${version}-image.tar`);
const bill = join(target, `tipline-${version}-image.cdx.json`);
const time = lastChange(root);

mkdirSync(target, { recursive: true });
build();
writeBill();
console.log(archive);
console.log(bill);

function argumentsOf(args) {
  return args[0]?.startsWith('-') ? [undefined, args] : [args[0], args.slice(1)];
}

/** Builds with the time of the last commit everywhere, so that the same commit on the same bases has the same layers. */
function build() {
  const name = `localhost/tipline:${version}`;
  const commit = lastCommit(root);
  const labels = { version, ...(commit && { revision: commit }) };
  run('build', [
    ...['--file', join(root, 'Containerfile'), '--tag', name, '--timestamp', String(time), '--layers'],
    ...Object.entries(labels).flatMap(([key, value]) => [
      '--label',
      `org.opencontainers.image.${key}=${value}`,
    ]),
    ...(commit ? ['--build-arg', `REVISION=${commit}`] : []),
    ...options,
    root,
  ]);
  rmSync(archive, { force: true });
  run('push', [name, `oci-archive:${archive}:${name}`]);
}

/** What the builder prints is progress: standard output has the paths of the files. */
function run(command, args) {
  const { status } = spawnSync(builder, [command, ...args], { stdio: ['ignore', process.stderr, 'inherit'] });
  if (status !== 0) throw new Error(`${builder} ${command} failed.`);
}

function writeBill() {
  const work = mkdtempSync(join(tmpdir(), 'tipline-image-'));
  try {
    const files = join(work, 'files');
    const image = openImage(archive, join(work, 'layout'));
    image.extract(files, describesContents);
    const contents = billOfMaterials(files, { version, digest: image.digest, time });
    writeFileSync(bill, `${JSON.stringify(contents, null, 2)}\n`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
