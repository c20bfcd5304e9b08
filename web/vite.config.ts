import { defineConfig } from 'vite';
import { tablerIcons } from './tabler-icons.ts';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tablerIcons()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // The Content Security Policy allows scripts and styles only as files of this server.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // test/web/bundle.test.ts enforces the limit, on gzipped sizes.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // Libraries mark modules with "use client", which means nothing without React's server components.
      checks: { moduleLevelDirective: false },
    },
  },
});
