// The pages of the documentation's site: which files they are, in which order, and at which address.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The sections of the sidebar. `folder`: all other pages of a folder, by name; `isCollapsed`: its pages are listed on
 * demand; `isOptional`: not needed to use Tipline, so that language models may leave it out.
 */
const SECTIONS = [
  { label: 'Start', files: ['README.md'] },
  {
    label: 'Tutorials',
    files: ['first-ten-minutes', 'feed-a-firewall', 'soar-playbook', 'misp-to-suricata'].map(
      (name) => `docs/tutorials/${name}.md`,
    ),
  },
  {
    label: 'How-to guides',
    files: ['installing', 'importing', 'intake', 'feeds', 'operating', 'scaling'].map(
      (name) => `docs/${name}.md`,
    ),
  },
  {
    label: 'Integrations',
    files: ['docs/integrations/README.md'],
    folder: 'docs/integrations',
    isCollapsed: true,
  },
  {
    label: 'Reference',
    files: [
      'docs/reference/endpoints.md',
      'docs/reference/look-ups.md',
      'docs/reference/changes.md',
      'docs/formats.md',
      'docs/reference/errors.md',
      'docs/reference/configuration.md',
      'docs/reference/commands.md',
      'packaging/helm/tipline/README.md',
      'docs/versions.md',
      'docs/sigma-queries.md',
      'docs/detection-rules.md',
    ],
  },
  { label: 'API operations', files: [], folder: 'docs/reference/api' },
  {
    label: 'Clients',
    files: ['clients/typescript/README.md', 'clients/python/README.md', 'examples/README.md'],
  },
  { label: 'Explanation', files: ['ARCHITECTURE.md', 'docs/security.md', 'bench/README.md'] },
  { label: 'Decisions', files: [], folder: 'docs/adr', isCollapsed: true, isOptional: true },
  {
    label: 'Project',
    isOptional: true,
    files: [
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'docs/releasing.md',
      'SECURITY.md',
      'sample/ORIGINS.md',
      'whitelist/README.md',
    ],
  },
];

/** The addresses of files whose path gives none: outside `docs/`. */
const ROUTES = {
  'README.md': 'index',
  'ARCHITECTURE.md': 'architecture',
  'CONTRIBUTING.md': 'project/contributing',
  'SECURITY.md': 'project/security-policy',
  'CHANGELOG.md': 'project/changelog',
  'sample/ORIGINS.md': 'project/sample',
  'whitelist/README.md': 'project/whitelists',
  'bench/README.md': 'benchmarks',
  'packaging/helm/tipline/README.md': 'reference/chart',
  'docs/releasing.md': 'project/releasing',
  'examples/README.md': 'examples',
  'clients/typescript/README.md': 'clients/typescript',
  'clients/python/README.md': 'clients/python',
};

/**
 * Returns the sections with their pages: `source` (path in the repository), `route` (address without `.html`), `title`,
 * `description` (the first sentence) and `text` (Markdown).
 */
export function readSections() {
  return SECTIONS.map(({ files, folder, ...section }) => {
    const others = folder
      ? readdirSync(join(root, folder))
          .filter((name) => name.endsWith('.md'))
          .sort()
          .map((name) => `${folder}/${name}`)
      : [];
    return { ...section, pages: [...new Set([...files, ...others])].map(readPage) };
  });
}

function readPage(source) {
  const text = readFileSync(join(root, source), 'utf8');
  const title = /^# (.+)$/m.exec(text)?.[1];
  if (title === undefined) throw new Error(`${source} has no title.`);
  return { source, route: routeOf(source), title: plain(title), description: descriptionOf(text), text };
}

export function routeOf(source) {
  return ROUTES[source] ?? source.replace(/^docs\//, '').replace(/(?:\/README)?\.md$/, '');
}

/** A longer sentence is cut at a colon or semicolon. */
const LONGEST = 240;

/** Returns the first sentence of the first paragraph; '': the page begins with something else. */
function descriptionOf(text) {
  const paragraph = text
    .split(/\n{2,}/)
    .slice(1)
    .find((part) => /^(?!```)[\w*`[“]/.test(part));
  const [sentence = ''] = /^.*?(?:\.(?= |$)|$)/.exec(plain(paragraph ?? '').replaceAll(/\s+/g, ' ')) ?? [];
  return sentence.length <= LONGEST ? sentence : `${sentence.split(/[:;] /, 1)[0]}.`;
}

/** Returns a line of Markdown without its marks. */
function plain(text) {
  return text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}
