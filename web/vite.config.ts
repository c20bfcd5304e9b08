import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // The Content Security Policy allows scripts and styles only as files of this server.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // test/web/bundle.test.ts enforces the limit, on gzipped sizes.
    chunkSizeWarningLimit: 1000,
  },
});
