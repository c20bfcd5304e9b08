import { defineConfig } from 'orval';

export default defineConfig({
  tipline: {
    input: '../../openapi/openapi.json',
    output: {
      target: 'generated/orval.ts',
      client: 'fetch',
      baseUrl: { runtime: 'process.env.TIPLINE_URL' },
    },
  },
});
