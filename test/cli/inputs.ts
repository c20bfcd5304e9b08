import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { uuidv5 } from '../../src/model/identity.ts';
import { temporaryDirectory } from '../support/directories.ts';

const NAMESPACE = '0d9f6d5c-7a55-4f0b-9c0e-3c1f8c6ad0e1';
const WHEN = '2026-01-02T03:04:05.000Z';

/** A file in a directory of its own. */
export function inputFile(name: string, text: string): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, text);
  return path;
}

/** A CSV of domains; those of one `stem` are nobody else's. */
export function csvOf(stem: string, rows: number): string {
  const lines = Array.from({ length: rows }, (_, i) => `${stem}${i}.test-feed.net,domain`);
  return `ioc,type\n${lines.join('\n')}\n`;
}

const stixId = (type: string, name: string) => `${type}--${uuidv5(name, NAMESPACE)}`;

export function stixIndicator(domain: string): object {
  return {
    type: 'indicator',
    spec_version: '2.1',
    id: stixId('indicator', domain),
    created: WHEN,
    modified: WHEN,
    pattern_type: 'stix',
    pattern: `[domain-name:value = '${domain}']`,
    valid_from: WHEN,
  };
}

function stixActor(name: string): object {
  const id = stixId('intrusion-set', name);
  return { type: 'intrusion-set', spec_version: '2.1', id, created: WHEN, modified: WHEN, name };
}

function stixIndicates(domain: string, actor: string): object {
  return {
    type: 'relationship',
    spec_version: '2.1',
    id: stixId('relationship', `${domain} ${actor}`),
    created: WHEN,
    modified: WHEN,
    relationship_type: 'indicates',
    source_ref: stixId('indicator', domain),
    target_ref: stixId('intrusion-set', actor),
  };
}

export function bundleOf(objects: object[]): string {
  return JSON.stringify({ type: 'bundle', id: stixId('bundle', 'test'), objects });
}

/** Links first, then what they join: cut anywhere, some of them have lost an end. */
export function linkedBundle(stem: string, indicators: number): string {
  const domains = Array.from({ length: indicators }, (_, i) => `${stem}${i}.test-feed.net`);
  return bundleOf([
    ...domains.map((domain) => stixIndicates(domain, `${stem} group`)),
    stixActor(`${stem} group`),
    ...domains.map(stixIndicator),
  ]);
}
