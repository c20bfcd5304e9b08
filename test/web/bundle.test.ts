import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, inject, it } from 'vitest';

const web = () => join(dirname(inject('productMain') ?? ''), 'web');

/** Scripts of the document, and those that they need at once. */
function firstLoad(): string[] {
  const document = readFileSync(join(web(), 'index.html'), 'utf8');
  const found = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    const text = readFileSync(join(web(), 'assets', name), 'utf8');
    for (const [, next = ''] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) visit(next);
  };
  for (const [, name = ''] of document.matchAll(/(?:src|href)="\/assets\/([^"]+\.js)"/g)) visit(name);
  return [...found];
}

it('the initial scripts are smaller than 300 kB gzipped', () => {
  const files = firstLoad();
  const bytes = files.reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(web(), 'assets', name))).length,
    0,
  );
  expect(files.length).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(300_000);
});

it('the scripts are split by page', () => {
  const names = readdirSync(join(web(), 'assets'));
  for (const page of [
    'indicators',
    'indicator',
    'actor',
    'campaign',
    'imports',
    'audit',
    'settings',
    'sign-in',
  ])
    expect(
      names.some((name) => new RegExp(`^${page}-[\\w-]+\\.js$`).test(name)),
      page,
    ).toBe(true);
  expect(firstLoad().some((name) => name.startsWith('settings'))).toBe(false);
});

it('the document has no inline script', () => {
  const document = readFileSync(join(web(), 'index.html'), 'utf8');
  expect(document.match(/<script(?![^>]*\ssrc=)/g)).toBeNull();
  expect(document).not.toMatch(/\son\w+=|javascript:/);
});
