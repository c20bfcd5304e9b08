import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the most recently modified file or directory among these paths and their contents. */
export function newest(root, paths) {
  return paths
    .map((path) => newestIn(root, path))
    .reduce((last, one) => (one.mtimeMs > last.mtimeMs ? one : last));
}

function newestIn(root, path) {
  const stats = statSync(join(root, path));
  const own = { path, mtimeMs: stats.mtimeMs };
  const names = stats.isDirectory() ? readdirSync(join(root, path)) : [];
  return names
    .map((name) => newestIn(root, join(path, name)))
    .reduce((last, one) => (one.mtimeMs > last.mtimeMs ? one : last), own);
}
