import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: JavaScript without types
import { brokenLinks } from '../../scripts/docs/check-links.mjs';
// @ts-expect-error: JavaScript without types
import { llmsIndex } from '../../scripts/docs/llms.mjs';
// @ts-expect-error: JavaScript without types
import { sitePage } from '../../scripts/docs/markdown.mjs';
// @ts-expect-error: JavaScript without types
import { readSections } from '../../scripts/docs/pages.mjs';
import { documents } from '../support/code-blocks.ts';
import { temporaryDirectory } from '../support/directories.ts';

interface Page {
  source: string;
  route: string;
  description: string;
}
const sections: { label: string; pages: Page[] }[] = readSections();
const sources = sections.flatMap(({ pages }) => pages.map(({ source }) => source));

describe('the pages of the site', () => {
  it('have every document, each at an address of its own', () => {
    expect(documents().filter((document) => !sources.includes(document))).toEqual([]);
    const routes = sections.flatMap(({ pages }) => pages.map(({ route }) => route));
    expect(new Set(routes).size).toBe(routes.length);
  });

  it('outside of the decisions have a description', () => {
    const pages = sections.flatMap((section) => (section.label === 'Decisions' ? [] : section.pages));
    expect(pages.filter(({ description }) => description === '').map(({ source }) => source)).toEqual([]);
  });
});

describe('a page', () => {
  const pageOf = (text: string) => {
    const files: string[] = [];
    const page = {
      source: 'docs/feeds.md',
      route: 'feeds',
      title: 'Feeds',
      description: 'About "feeds".',
      text,
    };
    const markdown = sitePage(
      page,
      (path: string) => sources.includes(path),
      (path: string) => files.push(path),
    );
    return { markdown, files };
  };

  it('has its title and description as front matter, and no heading', () => {
    expect(pageOf('# Feeds\n\nText.\n').markdown).toBe(
      '---\ntitle: "Feeds"\ndescription: "About \\"feeds\\"."\neditUrl: false\n---\n\nText.\n',
    );
  });

  it.each([
    ['[a](formats.md#txt)', '[a](/formats.html#txt)'],
    ['[`a`](integrations/README.md)', '[`a`](/integrations.html)'],
    ['[a](../README.md)', '[a](/index.html)'],
    ['![a](images/architecture.svg)', '![a](/files/docs/images/architecture.svg)'],
    ['[a](../examples/)', '[a](/examples.html)'],
    ['[`a/`](../sigma)', '`a/`'],
    ['`[a](b.md)`', '`[a](b.md)`'],
    ['```\n[a](b.md)\n```', '```\n[a](b.md)\n```'],
    ['[a](https://example.org/b.md)', '[a](https://example.org/b.md)'],
    ['[a](#b)', '[a](#b)'],
  ])('has for %s the link %s', (text, expected) => {
    expect(pageOf(text).markdown.split('---\n')[2]).toBe(expected);
  });

  it('adds the files that it links to', () => {
    expect(pageOf('[a](../.env.example)').files).toEqual(['.env.example']);
  });

  it('cannot link to a file that does not exist', () => {
    expect(() => pageOf('[a](missing.md)')).toThrow('docs/feeds.md links to docs/missing.md');
  });
});

describe('the check of links', () => {
  it('reports files, anchors and addresses that do not exist', () => {
    const site = temporaryDirectory();
    mkdirSync(join(site, 'a'));
    writeFileSync(
      join(site, 'index.html'),
      '<a href="a/b.html#here">1</a> <a href="https://example.org">2</a>',
    );
    const links = [
      '../index.html',
      '#here',
      '../none.html',
      '#none',
      '../index.html#none',
      '/index.html',
      'https://',
    ];
    writeFileSync(join(site, 'a/b.html'), links.map((link) => `<a id="here" href="${link}">x</a>`).join(''));
    expect(brokenLinks(site)).toEqual(
      links.slice(2).map((link) => `a/b.html links to ${link}, which does not exist.`),
    );
  });
});

describe('llms.txt', () => {
  it('has a title, a summary and sections of links with descriptions', () => {
    const text = llmsIndex(sections);
    expect(text).toMatch(/^# Tipline\n\n> Tipline is a self-hosted .*\n\n/);
    expect(text).toContain('\n## Tutorials\n\n- [The first ten minutes](tutorials/first-ten-minutes.html): ');
    expect(text.match(/^- \[/gm)).toHaveLength(sources.length);
  });
});
