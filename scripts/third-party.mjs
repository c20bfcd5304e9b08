import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file with the licences, in each directory of bundles. */
export const NOTICES = 'THIRD-PARTY-NOTICES.txt';
/** The heading of a package in it. */
const HEADING = /^((\S+) (\S+) \((.+)\))\n(-+)$/gm;

const LICENCE_FILE = /^(licen[cs]e|copying)/i;
const README = /^readme/i;
/** The section of a README about the licence, up to the next heading. */
const LICENCE_SECTION = /^#+ *licen[cs]e.*\n+([\s\S]*?)(?=\n#|$(?![\s\S]))/im;

/**
 * A plugin of Vite that writes the licences of the packages in a bundle to a file beside it.
 * @param directories of packages whose code gets into the bundle or beside it in another way than by an import
 * @param more licences that no package has: `{ title, text }`
 */
export function thirdPartyNotices({ directories = [], more = [] } = {}) {
  return {
    name: 'third-party-notices',
    generateBundle(_options, bundle) {
      const imported = Object.values(bundle)
        .flatMap(({ moduleIds = [] }) => moduleIds)
        .map(packageOf)
        .filter((directory) => directory !== null);
      const notices = [...[...new Set([...imported, ...directories])].map(noticeOf), ...more];
      this.emitFile({ type: 'asset', fileName: NOTICES, source: asText(notices) });
    },
  };
}

/** Returns the directory of the package that a module belongs to; null: it belongs to none. */
function packageOf(id) {
  const [directory] = /^[^\0].*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id) ?? [];
  return directory ?? null;
}

function noticeOf(directory) {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  );
  const by = author?.name ?? author;
  const stated = `The package states the licence ${license}${by ? ` and the author ${by}` : ''}.`;
  return { title: `${name} ${version} (${license})`, text: licenceText(directory) ?? stated };
}

/** Returns name, version and licence of each package in a file of licences. */
export function packagesOf(notices) {
  return [...notices.matchAll(HEADING)]
    .filter(([, title, , , , line]) => line.length === title.length)
    .map(([, , name, version, license]) => ({ name, version, license }));
}

function licenceText(directory) {
  const text = (pattern) => {
    const file = readdirSync(directory).find((entry) => pattern.test(entry));
    return file && readFileSync(join(directory, file), 'utf8');
  };
  return text(LICENCE_FILE) ?? LICENCE_SECTION.exec(text(README) ?? '')?.[1];
}

function asText(notices) {
  const entries = notices
    .sort((a, b) => (a.title < b.title ? -1 : 1))
    .map(({ title, text }) => `${title}\n${'-'.repeat(title.length)}\n\n${text.trim()}\n`);
  return `The files in this directory contain code of these packages, under these licences.\n\n${entries.join('\n\n')}`;
}
