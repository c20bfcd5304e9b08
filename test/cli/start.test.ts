import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { copyTree } from '../support/product.ts';

describe('npm start, with a command that ends', () => {
  let tree: string;
  beforeAll(() => {
    tree = join(temporaryDirectory(), 'tipline');
    copyTree(tree);
  });

  const help = (options: object = {}) => {
    const script = join(tree, 'scripts', 'run.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--version'], {
      encoding: 'utf8',
      ...options,
    });
    return { status, stderr, printed: stdout.trim() };
  };
  const builtAt = () => statSync(join(tree, 'dist', 'main.js')).mtimeMs;
  const makeNewer = (path: string) => utimesSync(join(tree, path), new Date(), new Date(Date.now() + 1_000));

  it('builds when nothing is built yet, reported in one line', () => {
    expect(help()).toEqual({ status: 0, stderr: 'Building, for nothing is built yet.\n', printed: '0.1.0' });
  });

  it('starts the existing build', () => {
    const before = builtAt();
    expect(help()).toEqual({ status: 0, stderr: '', printed: '0.1.0' });
    expect(builtAt()).toBe(before);
  });

  it('rebuilds when a source is newer, and leaves no temporary directories', () => {
    makeNewer('src/main.ts');
    expect(help()).toMatchObject({
      status: 0,
      stderr: 'Building, for src/main.ts is newer than what is built.\n',
    });
    expect(readdirSync(tree).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'as a user who cannot write, starts the stale build, or explains that there is none',
    () => {
      const nobody = { uid: 65_534, gid: 65_534, env: { PATH: process.env.PATH, HOME: tree } };
      chmodSync(join(tree, '..'), 0o755);
      chmodSync(tree, 0o755);
      makeNewer('src/main.ts');
      const stale = help(nobody);
      expect(stale).toMatchObject({ status: 0, printed: '0.1.0' });
      expect(stale.stderr).toMatch(
        /^Starting what is built, though src\/main.ts is newer .* npm run build\.\n$/,
      );
      rmSync(join(tree, 'dist'), { recursive: true });
      const none = help(nobody);
      expect(none.status).toBe(1);
      expect(none.stderr).toMatch(/^Not started: nothing is built yet, and this user may not write .*\n$/);
      expect(existsSync(join(tree, 'dist'))).toBe(false);
    },
  );
});
