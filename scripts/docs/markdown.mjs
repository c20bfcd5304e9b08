import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root, routeOf } from './pages.mjs';

/** Code, which is left alone; or a link or an image whose target is a file of the repository. */
const CODE_OR_LINK =
  /(`+)[\s\S]*?\1|(!?)\[((?:`[^`]*`|[^[\]`])*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)/g;

/**
 * Returns the source of a page of the site: its title and description as front matter, and links to other pages by
 * address. A link to a directory without a page, which only a forge can list, becomes text.
 * @param isPage whether the site has a page of a path in the repository
 * @param addFile called with the path of each other file that the page links to; the site serves it at `files/PATH`
 * @throws when a link leads nowhere
 */
export function sitePage({ source, title, description, text }, isPage, addFile) {
  const body = text
    .replace(/^# .+\n/m, '')
    .replaceAll(CODE_OR_LINK, (whole, _quotes, mark, label, path, anchor = '') => {
      if (path === undefined) return whole;
      const address = addressOf(normalize(join(dirname(source), path)).replace(/\/$/, ''));
      return address === null ? label : `${mark}[${label}](${address}${anchor})`;
    });
  const matter = { title, ...(description && { description }), editUrl: false };
  const lines = Object.entries(matter).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---\n${lines.join('\n')}\n---\n${body}`;

  /** @returns null: a directory without a page */
  function addressOf(target) {
    if (isPage(target)) return `/${routeOf(target)}.html`;
    const path = join(root, target);
    if (!existsSync(path)) throw new Error(`${source} links to ${target}, which does not exist.`);
    if (statSync(path).isDirectory())
      return isPage(`${target}/README.md`) ? addressOf(`${target}/README.md`) : null;
    addFile(target);
    return `/files/${target}`;
  }
}
