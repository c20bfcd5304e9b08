import { defineConfig } from 'vitest/config';

/** A test that has not ended by then hangs: how fast a machine is must not decide. More runs of properties take longer. */
const HANG_MS = 600_000 * Math.max(1, Number(process.env.PROPERTY_RUNS ?? 1));

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/servers.ts'],
    execArgv: ['--throw-deprecation'],
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    // A worker holds an embedded database of its own; more of them than cores only wait for each other.
    maxWorkers: 2,
  },
});
