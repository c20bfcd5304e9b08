import { expect, it } from 'vitest';
import { Skipped } from '../../src/formats/skipped.ts';
import { snortFormat } from '../../src/formats/snort.ts';
import { exportIndicator, GOLDEN, HOSTILE, writtenFiles } from './input.ts';
import { ruleProblems } from './rule-lint.ts';

const reputation = snortFormat({ archive: 'reputation' });

it('an archive for Snort has a block list, its configuration, and the rules of all other types', async () => {
  const skipped = new Skipped();
  const any = exportIndicator(900, 'IPV4', '0.0.0.0');
  const files = await writtenFiles(reputation, [any, ...GOLDEN, ...HOSTILE], {}, skipped);
  expect([...files.keys()]).toEqual(['tipline.blocklist', 'tipline.rules', 'tipline.lua']);
  expect(files.get('tipline.blocklist')).toMatch(/^198\.51\.100\.7\n198\.51\.100\.6\n2001:db8::bad\n/);
  expect(files.get('tipline.lua')).toContain("reputation = { blocklist = 'tipline.blocklist' }");
  const rules = (files.get('tipline.rules') ?? '').split('\n');
  expect(rules[1]).toBe('alert (msg:"Tipline address in a list"; gid:136; sid:1; rev:1;)');
  expect(ruleProblems(rules.filter((line) => !line.includes('gid:136')).join('\n'))).toEqual([]);
  expect(rules.some((line) => line.includes('198.51.100'))).toBe(false);
  expect(skipped.counts).toMatchObject({ 'any-address': 1 });
});

it('an archive for Snort without addresses has neither list nor configuration', async () => {
  const files = await writtenFiles(reputation, [exportIndicator(1, 'DOMAIN', 'evil.example')]);
  expect([...files.keys()]).toEqual(['tipline.rules']);
  expect(files.get('tipline.rules')).not.toContain('gid:136');
});
