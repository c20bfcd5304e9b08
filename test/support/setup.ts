import { afterAll, afterEach } from 'vitest';
import { closeServers } from '../outbound/local-servers.ts';
import { removeDirectories } from './directories.ts';
import { endProcesses } from './processes.ts';

// For every test file, of which a worker runs many on the same modules.
afterEach(closeServers);
afterAll(async () => {
  await endProcesses();
  removeDirectories();
});
