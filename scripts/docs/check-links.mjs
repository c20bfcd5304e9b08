import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { filesOf } from './relative.mjs';

/**
 * Returns the links of a built site that lead nowhere, one message each: files and anchors that do not exist, addresses of
 * other hosts that are none, and links that only work at the root of a server.
 */
export function brokenLinks(site) {
  const paths = filesOf(site, '.html');
  const pages = new Map(paths.map((path) => [path, readFileSync(join(site, path), 'utf8')]));
  const anchors = new Map(
    [...pages].map(([path, text]) => [
      path,
      new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => decode(id))),
    ]),
  );
  return [...pages].flatMap(([path, text]) =>
    [...text.matchAll(/\s(?:href|src)="([^"]*)"/g)]
      .map(([, link]) => decode(link))
      .filter((link) => !leadsSomewhere(path, link))
      .map((link) => `${path} links to ${link}, which does not exist.`),
  );

  function leadsSomewhere(path, link) {
    if (/^(?:https?|mailto):/.test(link)) return URL.canParse(link);
    if (link.startsWith('data:')) return true;
    const [file, anchor] = link.split('#');
    if (file.startsWith('/')) return false;
    const target = file === '' ? path : normalize(join(dirname(path), decodeURIComponent(file)));
    if (!existsSync(join(site, target))) return false;
    return !anchor || !anchors.has(target) || anchors.get(target).has(decodeURIComponent(anchor));
  }
}

const decode = (text) =>
  text
    .replaceAll('&amp;', '&')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&#38;', '&')
    .replaceAll('&#39;', "'");
