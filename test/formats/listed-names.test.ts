import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS, formatOf, optionsFor } from '../../src/formats/catalogue.ts';
import type { ExportIndicator, TxtStyle } from '../../src/formats/format.ts';
import { domainComparisons } from '../../src/formats/sigma/kinds.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import { exportIndicator, written, writtenFiles } from './input.ts';

const partner = exportIndicator(9, 'DOMAIN', 'partner.example', {
  whitelistedParts: ['*.a.partner.example', '=b.partner.example', 'x.c.partner.example'],
});
const none = exportIndicator(8, 'DOMAIN', 'none.example', { whitelistedParts: ['*.none.example'] });
const other = exportIndicator(3, 'DOMAIN', 'evil.example');

async function list(style: TxtStyle, rows: readonly ExportIndicator[], given = {}) {
  const options = optionsFor('txt', { style, ...given }, ['DOMAIN'], null);
  if ('error' in options) throw new Error(options.error);
  const skipped = new Skipped();
  const text = await written(formatOf('txt', options), rows, {}, 500, skipped);
  return {
    lines: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    skipped: skipped.counts,
    parts: skipped.parts,
  };
}

describe('a domain with whitelisted names below', () => {
  it('has exceptions in a response policy zone', async () => {
    const skipped = new Skipped();
    const text = await written(formatOf('rpz', DEFAULT_OPTIONS), [other, none, partner], {}, 500, skipped);
    expect(text.split('\n').filter((line) => line.includes(' CNAME '))).toEqual([
      'none.example CNAME .',
      'evil.example CNAME .',
      '*.evil.example CNAME .',
      'partner.example CNAME .',
      '*.partner.example CNAME .',
      'a.partner.example CNAME .',
      '*.a.partner.example CNAME rpz-passthru.',
      'b.partner.example CNAME rpz-passthru.',
      '*.b.partner.example CNAME .',
      'x.c.partner.example CNAME rpz-passthru.',
      '*.x.c.partner.example CNAME rpz-passthru.',
      'c.partner.example CNAME .',
      '*.c.partner.example CNAME .',
    ]);
    expect(text).toContain('; Left out of listed networks and domains, because they are whitelisted: 4\n');
  });

  it('is alone in a response policy zone that an exception does not fit into', async () => {
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.evil.example`;
    const row = exportIndicator(1, 'DOMAIN', 'evil.example', { whitelistedParts: [`=${long}`] });
    const text = await written(formatOf('rpz', DEFAULT_OPTIONS), [row]);
    expect(text.split('\n').filter((line) => line.includes(' CNAME '))).toEqual(['evil.example CNAME .']);
  });

  it.each([
    ['dnsmasq', (name: string) => `server=/${name}/`, (name: string) => `server=/${name}/#`],
    [
      'unbound',
      (name: string) => `local-zone: "${name}" always_nxdomain`,
      (name: string) => `local-zone: "${name}" always_transparent`,
    ],
    ['postfix', (name: string) => `${name} REJECT`, (name: string) => `${name} DUNNO`],
  ] as const)('has exceptions in a list of style %s', async (style, blocked, passed) => {
    const above = exportIndicator(4, 'DOMAIN', 'c.partner.example', {
      whitelistedParts: ['x.c.partner.example'],
    });
    const { lines, skipped, parts } = await list(style, [partner, none, above, other]);
    expect(lines.filter((line) => line !== 'server:')).toEqual([
      blocked('partner.example'),
      passed('a.partner.example'),
      passed('b.partner.example'),
      passed('x.c.partner.example'),
      blocked('c.partner.example'),
      blocked('evil.example'),
    ]);
    expect(skipped).toEqual({ 'whitelisted-parts': 1 });
    expect(parts).toBe(4);
  });

  it.each(['paloalto', 'fortinet'] as const)('is alone in a list of style %s', async (style) => {
    expect(await list(style, [partner, other])).toEqual({
      lines: ['partner.example', 'evil.example', '*.evil.example'],
      skipped: {},
      parts: 3,
    });
  });

  it.each(['paloalto', 'fortinet'] as const)('is in no list of style %s without wildcards', async (style) => {
    const { lines, skipped } = await list(style, [partner, other], { wildcards: 'off' });
    expect(lines).toEqual(['evil.example']);
    expect(skipped).toEqual({ 'whitelisted-parts': 1 });
  });

  it('is alone in a list for Squid, which has the listed names below it', async () => {
    const below = exportIndicator(4, 'DOMAIN', 'evil.partner.example');
    expect((await list('squid', [other, partner, below])).lines).toEqual([
      '.evil.example',
      'partner.example',
      '.evil.partner.example',
    ]);
  });

  it('is in a list of names alone like any other', async () => {
    expect(await list('hosts', [partner])).toEqual({
      lines: ['0.0.0.0 partner.example'],
      skipped: {},
      parts: 0,
    });
  });

  it('and its exceptions are complete or absent in a list with a limit', async () => {
    expect((await list('unbound', [partner, other], { limit: 4 })).skipped).toEqual({ limit: 1 });
    expect((await list('unbound', [partner, other], { limit: 5 })).skipped).toEqual({});
  });

  it('has exceptions in rules for Suricata', async () => {
    const text = await written(formatOf('suricata', DEFAULT_OPTIONS), [partner, none]);
    const lines = text.split('\n').filter((line) => line.startsWith('alert'));
    expect(lines).toHaveLength(6);
    for (const line of lines.slice(3))
      for (const name of ['a', 'b', 'x.c'])
        expect(line).toMatch(new RegExp(`content:!"\\.${name}\\.partner\\.example"; (nocase; )?endswith`));
    for (const line of lines.slice(0, 3)) {
      expect(line).toContain(`content:"${none.value}"; `);
      expect(line).toContain('startswith');
      expect(line).not.toContain('dotprefix');
    }
  });

  it('is alone in rules for Suricata when its exceptions are too long, for Snort and of Sigma', async () => {
    const many = exportIndicator(1, 'DOMAIN', 'partner.example', {
      whitelistedParts: Array.from({ length: 300 }, (_, i) => `=n${i}.partner.example`),
    });
    const rules = await written(formatOf('suricata', DEFAULT_OPTIONS), [many]);
    expect(rules).not.toContain('dotprefix');
    const snort = await written(formatOf('snort', DEFAULT_OPTIONS), [partner]);
    expect(snort).toContain('pcre:"/^partner\\.example');
    expect(snort).not.toContain('(?:^|\\.)');
    expect(domainComparisons('f', partner)).toEqual([
      { selection: 'selection_domain', field: 'f', pattern: 'partner.example' },
    ]);
  });

  it('has rules of its own beside the lists of Suricata', async () => {
    const options = optionsFor('suricata', { style: 'datasets' }, undefined, null);
    if ('error' in options) throw new Error(options.error);
    const files = await writtenFiles(formatOf('suricata', options), [other, partner]);
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    expect(files.get('tipline-names.lst')).toBe(`${base64('evil.example')}\n`);
    expect(files.get('tipline.rules')).toContain('content:!".x.c.partner.example"');
  });
});

describe('a response policy zone', () => {
  it('has no names that the wildcard of another includes', async () => {
    const names = ['evil.example', 'a.b.evil.example', 'b.evil.example', 'github.io', 'x.y.github.io'];
    const rows = names.map((one, index) => exportIndicator(index + 1, 'DOMAIN', one));
    const text = await written(formatOf('rpz', DEFAULT_OPTIONS), rows);
    expect(text.split('\n').filter((line) => line.includes(' CNAME '))).toEqual([
      'evil.example CNAME .',
      '*.evil.example CNAME .',
      'github.io CNAME .',
      'x.y.github.io CNAME .',
      '*.x.y.github.io CNAME .',
    ]);
  });
});
