import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the pages lets in files of the server alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // test/web/bundle.test.ts holds what counts, gzipped.
    chunkSizeWarningLimit: 1000,
  },
});
