import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { communityRules } from '../../src/sigma/community-rules.ts';
import { isWantedRule, type RuleFilters } from '../../src/sigma/rule-filters.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tipline-test-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** A rule as the community writes it, comments and all. */
function rule(tags: readonly string[], more = ''): string {
  const list = tags.map((tag) => `    - ${tag}\n`).join('');
  return `title: Example   # as written\n${more}tags:\n${list}logsource:\n    category: dns\ndetection:\n    selection:\n        query: 'a.example'\n    condition: selection\n`;
}

async function reading(files: Record<string, string | Buffer>) {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  const rules = await communityRules(directory);
  const choose = (ids: readonly string[], filters: RuleFilters = {}) => {
    const { documents, placeholders } = rules.rulesFor(ids, (rule) => isWantedRule(filters, rule));
    return { documents: documents.map(({ text }) => text), placeholders: placeholders.length };
  };
  return {
    skipped: rules.skipped,
    choose,
    rulesFor: (ids: readonly string[], filters?: RuleFilters) => choose(ids, filters).documents,
  };
}

const T1071 = ['attack.command-and-control', 'attack.t1071.004'];

describe('community Sigma rules', () => {
  it('are returned verbatim, after a comment that names file, authors and licence', async () => {
    const text = rule(T1071, 'author: Ann Example, Bob Example\nlicense: MIT\n');
    const rules = await reading({ 'rules/dns/a.yml': text });
    expect(rules.rulesFor(['T1071.004'])).toEqual([
      `# rules/dns/a.yml, by its authors: Ann Example, Bob Example; licence: MIT\n${text}`,
    ]);
  });

  it('state when authors and licence are not named', async () => {
    const rules = await reading({ 'a.yaml': rule(T1071) });
    expect(rules.rulesFor(['T1071.004'])[0]).toMatch(
      /^# a\.yaml, by its authors: not named; licence: that of its collection\n/,
    );
  });

  it.each([
    ['its own', 'T1071.004', 1],
    ['its parent', 'T1071', 1],
    ['a sibling', 'T1071.001', 0],
    ['another of the same digits', 'T107', 0],
  ])('are found by %s id', async (_, id, found) => {
    const rules = await reading({ 'a.yml': rule(['attack.T1071.004']) });
    expect(rules.rulesFor([id])).toHaveLength(found);
  });

  it('of a parent technique are not returned for its sub-technique', async () => {
    const rules = await reading({ 'a.yml': rule(['attack.t1071']) });
    expect(rules.rulesFor(['T1071.004'])).toEqual([]);
  });

  it('are returned once and in file order, for any query', async () => {
    const both = rule(['attack.t1071.004', 'attack.t1105']);
    const rules = await reading({ 'b/z.yml': both, 'b.yml': both, 'a/z.yml': both });
    const names = rules.rulesFor(['T1105', 'T1071', 'T1105']).map((text) => /# (\S+),/.exec(text)?.[1]);
    expect(names).toEqual(['b.yml', 'a/z.yml', 'b/z.yml']);
  });

  it('include all documents of a file with one matching document, without markers', async () => {
    const base = rule(['attack.persistence'], 'name: base\n');
    const correlation =
      'title: Many\ncorrelation:\n    type: event_count\n    rules: [base]\n    group-by: [a]\n    timespan: 1h\n' +
      '    condition:\n        gte: 9\ntags:\n    - attack.t1105\n';
    const rules = await reading({ 'a.yml': `# Ours.\n---\n${base}---\n${correlation}...\n` });
    const documents = rules.rulesFor(['T1105']);
    expect(documents.map((text) => text.replace(/^.*\n/, ''))).toEqual([`# Ours.\n${base}`, correlation]);
  });

  it('form a valid YAML stream when joined', async () => {
    const rules = await reading({
      'a.yml': `---\r\n${rule(T1071).trimEnd()}`,
      'b.yml': `\uFEFF${rule(T1071)}`,
    });
    const stream = parseAllDocuments(rules.rulesFor(['T1071']).join('---\n'));
    expect([...stream].map((document) => document.toJS())).toMatchObject([
      { title: 'Example' },
      { title: 'Example' },
    ]);
  });

  it.each(['deprecated', 'unsupported'])('with the status %s are excluded', async (status) => {
    const rules = await reading({ 'a.yml': rule(T1071, `status: ${status}\n`) });
    expect([rules.rulesFor(['T1071']), rules.skipped]).toEqual([[], 0]);
  });

  it.each(['deprecated', 'rules-placeholder', 'unsupported'])(
    'in a folder %s are excluded',
    async (folder) => {
      const rules = await reading({ [`${folder}/windows/a.yml`]: rule(T1071), 'rules/b.yml': rule(T1071) });
      expect([rules.rulesFor(['T1071']).length, rules.skipped]).toEqual([1, 0]);
    },
  );

  it('with placeholders are counted, not returned, with all documents of their file', async () => {
    const placeholder = rule(T1071).replace('query:', 'query|endswith|expand:');
    const rules = await reading({ 'a.yml': `${rule(T1071)}---\n${placeholder}`, 'b.yml': rule(T1071) });
    expect(rules.choose(['T1071'])).toMatchObject({ documents: [expect.any(String)], placeholders: 2 });
    expect(rules.choose(['T1105'])).toEqual({ documents: [], placeholders: 0 });
  });

  it.each<[RuleFilters, string[]]>([
    [{}, ['a', 'b', 'c']],
    [{ level: ['high', 'critical'] }, ['a', 'c']],
    [{ status: ['stable'] }, ['b']],
    [{ logsource: 'windows' }, ['a', 'b']],
    [{ logsource: 'Windows/process_creation' }, ['a']],
    [{ logsource: 'sysmon' }, ['b']],
    [{ logsource: 'windows', level: ['low'] }, ['b']],
    [{ logsource: 'window' }, []],
  ])('are chosen by %o', async (filters, names) => {
    const of = (level: string, status: string, logsource: string) =>
      rule(T1071, `level: ${level}\nstatus: ${status}\n`).replace('category: dns', logsource);
    const rules = await reading({
      'a.yml': of('high', 'test', 'product: windows\n    category: process_creation'),
      'b.yml': of('low', 'stable', 'product: windows\n    service: sysmon'),
      'c.yml': of('critical', 'experimental', 'product: aws\n    service: cloudtrail'),
    });
    const chosen = rules.rulesFor(['T1071'], filters);
    expect(chosen.map((text) => /# (\S+)\.yml/.exec(text)?.[1])).toEqual(names);
  });

  it('are distinguished from other YAML, which is ignored', async () => {
    const rules = await reading({
      'data.yml': 'tags: [attack.t1071]\n',
      'list.yml': '- attack.t1071\n',
      'empty.yml': '',
      'rule.txt': rule(T1071),
      '.github/a.yml': rule(T1071),
    });
    expect([rules.rulesFor(['T1071']), rules.skipped]).toEqual([[], 0]);
  });

  it.each<[string, string | Buffer]>([
    ['broken', 'title: [\n'],
    ['not UTF-8', Buffer.concat([Buffer.from(rule(T1071)), Buffer.from([0x23, 0xff])])],
    ['with characters that YAML does not allow', `${rule(T1071)}# \u0000`],
    ['too large', `${rule(T1071)}${'#'.repeat(1024 * 1024)}`],
    ['that would change the rules after them', `action: global\n${rule(T1071)}---\n${rule(T1071)}`],
    ['that grow without end', `a: &a [x, x]\nb: &b [${'*a,'.repeat(99)}]\nc: [${'*b,'.repeat(99)}]\n`],
    ['nested without end', '['.repeat(100_000)],
  ])('that are %s are skipped and counted, and others are read', async (_, content) => {
    const rules = await reading({ 'a.yml': content, 'b.yml': rule(T1071) });
    expect([rules.rulesFor(['T1071']).length, rules.skipped]).toEqual([1, 1]);
  });

  it('behind symbolic links are ignored', async () => {
    await mkdir(join(directory, 'outside'));
    await writeFile(join(directory, 'outside/a.yml'), rule(T1071));
    await mkdir(join(directory, 'checkout'));
    await symlink('../outside', join(directory, 'checkout/folder'));
    await symlink('../outside/a.yml', join(directory, 'checkout/a.yml'));
    const rules = await communityRules(join(directory, 'checkout'));
    expect([rules.rulesFor(['T1071'], () => true).documents, rules.skipped]).toEqual([[], 0]);
  });

  it('cannot break out of their comment by a file name or author', async () => {
    const author = JSON.stringify('Ann\n---\r\u2028\u0085title: other \u202e');
    const rules = await reading({ 'a\n---\nb.yml': rule(T1071, `author: ${author}\n`) });
    expect(rules.rulesFor(['T1071'])[0]?.split('\n').slice(0, 2)).toEqual([
      '# a --- b.yml, by its authors: Ann --- title: other ; licence: that of its collection',
      'title: Example   # as written',
    ]);
  });

  it('that start with long comments are read', async () => {
    const rules = await reading({ 'a.yml': `${'#'.repeat(10_000)}\n${rule(T1071)}` });
    expect(rules.rulesFor(['T1071'])).toHaveLength(1);
  });

  it('are read once at startup', async () => {
    const rules = await reading({ 'a.yml': rule(T1071) });
    await rm(join(directory, 'a.yml'));
    expect(rules.rulesFor(['T1071'])).toHaveLength(1);
  });

  it('throw an error when the directory is missing', async () => {
    await expect(communityRules(join(directory, 'none'))).rejects.toThrow('ENOENT');
  });
});
