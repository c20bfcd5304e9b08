import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The addresses of Pagefind's index and of the pages that it finds, as Starlight's script has them. */
const SEARCH_PATHS = 'baseUrl:`/`,bundlePath:`/`.replace(/\\/$/,``)+`/pagefind/`';
const OWN_PATHS =
  'baseUrl:new URL(`..`,import.meta.url).pathname,bundlePath:new URL(`../pagefind/`,import.meta.url).href';

/**
 * Makes the links of a built site relative, so that it can be served from any path and read from the file system, and its
 * tables and code reachable by keyboard.
 * @throws when the script of the search is another one than expected
 */
export function makeRelative(site) {
  for (const path of filesOf(site, '.html')) {
    const up = relative(dirname(path), '.') || '.';
    change(path, (text) =>
      text
        .replaceAll(
          /(\s(?:href|src)=")\/(?!\/)([^"]*)/g,
          (_, start, target) => `${start}${up}/${target || 'index.html'}`,
        )
        // What scrolls must be reachable by keyboard. A script of the page does this for code, but later.
        .replaceAll(/<(?:table(?=>)|pre(?= data-language))/g, '$& tabindex="0"'),
    );
  }
  const scripts = filesOf(site, '.js').filter((path) => read(path).includes(SEARCH_PATHS));
  if (scripts.length !== 1) throw new Error('The script of the search does not have the expected paths.');
  change(scripts[0], (text) => text.replace(SEARCH_PATHS, () => OWN_PATHS));

  function read(path) {
    return readFileSync(join(site, path), 'utf8');
  }
  function change(path, edit) {
    writeFileSync(join(site, path), edit(read(path)));
  }
}

/** Returns the paths of the files of a site with this ending. */
export function filesOf(site, ending) {
  return readdirSync(site, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .sort();
}
