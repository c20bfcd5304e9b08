import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** A test that has not ended by then hangs: how fast a machine is must not decide. More runs of properties take longer. */
const HANG_MS = 600_000 * Math.max(1, Number(process.env.PROPERTY_RUNS ?? 1));

export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,mjs}'],
    globalSetup: ['test/support/servers.ts'],
    tags: [
      {
        name: 'nightly',
        description:
          'Takes seconds of CI, while tests that always run check its subject in part; npm run test:all runs it.',
      },
    ],
    setupFiles: ['test/support/setup.ts'],
    execArgv: ['--throw-deprecation'],
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    // Tests of processes and pages wait much of their time.
    maxWorkers: availableParallelism() + 1,
    // A worker keeps its modules and its databases from one file to the next: loading them again takes seconds.
    isolate: false,
  },
});
