import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import { readSections } from '../scripts/docs/pages.mjs';

export default defineConfig({
  // One file a page: links also work without a server.
  build: { format: 'file' },
  devToolbar: { enabled: false },
  // Options such as --query, and quotation marks of commands, stay as they are.
  markdown: { smartypants: false },
  integrations: [
    starlight({
      title: 'Tipline',
      description: 'Self-hosted, read-only threat-intelligence API',
      favicon: '/favicon.svg',
      customCss: ['./src/styles/site.css'],
      pagination: true,
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      expressiveCode: { styleOverrides: { codeFontSize: '0.8rem' } },
      sidebar: readSections().map(({ label, pages, isCollapsed = false }) => ({
        label,
        collapsed: isCollapsed,
        items: pages.map(({ route, title }) =>
          route === 'index' ? { slug: 'index', label: 'Overview' } : { slug: route, label: title },
        ),
      })),
    }),
  ],
});
