import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/servers.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A worker holds an embedded database of its own; more of them than cores only wait for each other.
    maxWorkers: 2,
  },
});
