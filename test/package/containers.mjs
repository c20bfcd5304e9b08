// Containers of a test: buildah and podman with images, containers and networks of its own in a directory, which is removed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { succeeds } from './debian.mjs';

/** Returns the environment in which buildah and podman use a directory. */
export function environmentIn(directory) {
  mkdirSync(directory);
  const [storage, containers] = ['storage.conf', 'containers.conf'].map((name) => join(directory, name));
  writeFileSync(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${join(directory, 'images')}"\nrunroot = "${join(directory, 'run')}"\n`,
  );
  // Podman's own limits stop the start of containers where a process may not raise its limits.
  const limits = '"nofile=16384:16384", "nproc=4096:4096"';
  // crun starts nothing where both versions of control groups are mounted.
  const runtime = succeeds('runc', ['--version']) ? 'runtime = "runc"\n' : '';
  writeFileSync(
    containers,
    `[containers]\ndefault_ulimits = [${limits}]\n[engine]\ncgroup_manager = "cgroupfs"\n${runtime}[network]\nnetwork_config_dir = "${join(directory, 'networks')}"\n`,
  );
  // chroot needs the fewest privileges.
  return {
    ...process.env,
    CONTAINERS_STORAGE_CONF: storage,
    CONTAINERS_CONF: containers,
    BUILDAH_ISOLATION: 'chroot',
  };
}

/** Ends all containers in a directory and removes it. */
export function removeContainers(directory, env) {
  if (succeeds('podman', ['--version']))
    for (const args of [
      ['rm', '--all', '--force', '--time', '0'],
      ['network', 'prune', '--force'],
    ])
      spawnSync('podman', args, { env, stdio: 'ignore', timeout: 60_000 });
  // The storage mounts itself, and files of containers of a build that has failed.
  spawnSync('umount', ['--recursive', join(directory, 'images/overlay')], { stdio: 'ignore' });
  rmSync(directory, { recursive: true, force: true });
}
