import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An entry that deletes a file of an earlier layer. */
const WHITEOUT = /(^|\/)\.wh\./;

/**
 * Reads an image from an OCI archive, which is unpacked into a directory that is created
 * (https://github.com/opencontainers/image-spec/blob/main/image-layout.md).
 * @returns the digest of its manifest (sha256:…), those of its layers, and its configuration
 */
export function openImage(archive, directory) {
  mkdirSync(directory, { recursive: true });
  execFileSync('tar', ['-xf', archive, '-C', directory]);
  const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
  const blob = (digest) => join(directory, 'blobs', digest.replace(':', '/'));
  const { digest } = readJson(join(directory, 'index.json')).manifests[0];
  const manifest = readJson(blob(digest));
  return {
    digest,
    layers: manifest.layers.map((layer) => layer.digest),
    config: readJson(blob(manifest.config.digest)),
    /**
     * Unpacks files into a directory, which is created. Files that a later layer deletes are not removed.
     * @param isWanted called with each path, without a leading slash
     */
    extract(target, isWanted) {
      for (const { digest: layer } of manifest.layers) extractFrom(blob(layer), target, isWanted);
    },
  };
}

function extractFrom(layer, target, isWanted) {
  const names = execFileSync('tar', ['-tzf', layer], { encoding: 'utf8', maxBuffer: 2 ** 28 }).split('\n');
  const isFile = (name) => name !== '' && !name.endsWith('/') && !WHITEOUT.test(name);
  const wanted = names.filter((name) => isFile(name) && isWanted(name));
  if (wanted.length === 0) return;
  mkdirSync(target, { recursive: true });
  const options = ['-C', target, '--no-same-owner', '--no-wildcards', '-T', '-'];
  execFileSync('tar', ['-xzf', layer, ...options], { input: wanted.join('\n') });
}
