import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../src/enrichment/providers/catalogue.ts';
import { normalize } from '../../src/model/normalize.ts';
import type { IndicatorType, Verdict } from '../../src/model/vocabulary.ts';

interface StoredAnswer {
  provider: string;
  type: IndicatorType;
  value: string;
  fetchedAt: string;
  raw: unknown;
}

const sample = fileURLToPath(new URL('../../sample/', import.meta.url));
const files = readdirSync(sample, { recursive: true, encoding: 'utf8' })
  .filter((name) => statSync(path.join(sample, name)).isFile())
  .map((name) => name.replaceAll('\\', '/'));
const textOf = (name: string): string => readFileSync(path.join(sample, name), 'utf8');
const manifest: { file: string }[] = JSON.parse(textOf('manifest.json'));
const answers = files
  .filter((name) => name.startsWith('enrichments/'))
  .map((name) => JSON.parse(textOf(name)) as StoredAnswer);

function verdictFor({ provider, raw }: StoredAnswer): Verdict | undefined {
  return PROVIDERS.find(({ name }) => name === provider)?.assess(raw).verdict;
}

describe('the sample data', () => {
  it('stays under 3,000,000 bytes', () => {
    const bytes = files.reduce((sum, name) => sum + statSync(path.join(sample, name)).size, 0);
    expect(bytes).toBeLessThan(3_000_000);
  });

  it('lists each importable file in its manifest', () => {
    const importable = files.filter((name) => /^(?:attack|stix|misp|csv)\//.test(name));
    expect(manifest.map(({ file }) => file).sort()).toEqual(importable.sort());
  });

  it.each(manifest.map(({ file }) => file))('documents in ORIGINS.md where %s is from', (file) => {
    const [folder, name = ''] = file.split('/');
    const section = textOf('ORIGINS.md').split(`## ${folder}/`)[1];
    expect(section).toContain(name.startsWith('eset-') ? 'eset-' : name);
  });

  it.each(manifest.map(({ file }) => file))('contains nothing that expires in %s', (file) => {
    expect(textOf(file)).not.toMatch(/valid_until|expir(?:es|ation)(?:_?at|date)?["',]/i);
  });

  it.each(answers.map((answer) => [answer.provider, answer.value, answer] as const))(
    'has a response of %s for %s that its mapper accepts',
    (name, value, { type, fetchedAt, raw }) => {
      const provider = PROVIDERS.find((candidate) => candidate.name === name);
      expect(provider?.accepts).toContain(type);
      expect(provider?.assess(raw).error).toBeNull();
      expect(normalize(type, value)).toMatchObject({ type, value });
      expect(Date.parse(fetchedAt)).not.toBeNaN();
    },
  );

  it.each(answers.map(({ value }) => value))('has the enriched %s in an imported file', (value) => {
    expect(manifest.some(({ file }) => textOf(file).includes(value))).toBe(true);
  });

  const fromLists = answers.filter(({ provider }) => provider === 'maltrail');
  it.each(fromLists.map(({ value, raw }) => [value, raw] as const))(
    'quotes a Maltrail line that names %s, with its references',
    (value, raw) => {
      expect(raw).toEqual({
        trail: expect.stringContaining(value),
        file: 'trails/static/malware/apt_sofacy.txt',
        reference: expect.arrayContaining([expect.stringMatching(/^# Reference: https:/)]),
      });
    },
  );

  it('has malicious, suspicious and unknown verdicts', () => {
    expect(new Set(answers.map(verdictFor))).toEqual(new Set(['MALICIOUS', 'SUSPICIOUS', 'UNKNOWN']));
  });
});
