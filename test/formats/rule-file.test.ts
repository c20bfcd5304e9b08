import { describe, expect, it } from 'vitest';
import { snortFormat } from '../../src/formats/snort.ts';
import { suricataFormat } from '../../src/formats/suricata.ts';
import { exportIndicator, GOLDEN, HOSTILE, written } from './input.ts';
import { ruleProblems } from './rule-lint.ts';

const FORMATS = [
  ['snort', snortFormat()],
  ['suricata', suricataFormat()],
] as const;

const rulesOf = (text: string) => text.split('\n').filter((line) => line.startsWith('alert '));
const idsOf = (text: string) => rulesOf(text).map((line) => /sid:\d+; rev:\d+/.exec(line)?.[0]);
/** The rules of a block's addresses begin at every fourth sid from 4,000,000,000; Snort has three of them. */
const firstsOf = (text: string) => idsOf(text).filter((id) => Number(/\d+/.exec(id ?? '')?.[0]) % 4 === 0);
const address = (number: number, fields = {}) =>
  exportIndicator(number, 'IPV4', `198.51.100.${number}`, fields);

describe.each(FORMATS)('%s', (_name, format) => {
  it('has no fault that the engine tolerates', async () => {
    expect(ruleProblems(await written(format, [...GOLDEN, ...HOSTILE]))).toEqual([]);
  });

  it('is identical for any batch size', async () => {
    const rows = [...GOLDEN, ...HOSTILE];
    expect(await written(format, rows, {}, 1)).toBe(await written(format, rows, {}, 1000));
  });

  it('is only a comment without indicators', async () => {
    expect(await written(format, [])).toMatch(/^# .+\n$/);
  });

  it('reports URLs that no rule can detect', async () => {
    const urls = ['ftp://files.example/x', 'ftps://files.example/y'];
    const rows = urls.map((url, index) => exportIndicator(index + 1, 'URL', url));
    const text = await written(format, rows);
    expect(rulesOf(text)).toEqual([]);
    expect(text).toMatch(/\n# Left out: not-http 2\n$/);
  });

  it('has no rule for unspecified addresses', async () => {
    const rows = [
      address(1),
      exportIndicator(2, 'IPV4', '0.0.0.0'),
      exportIndicator(3, 'IPV6', '::'),
      exportIndicator(300, 'IPV4', '0.0.0.0'),
      exportIndicator(301, 'IPV4', '0.0.0.0/8', { whitelistedParts: ['0.128.0.0/9'] }),
      exportIndicator(302, 'IPV6', '::/97'),
      exportIndicator(303, 'IPV6', '::1'),
    ];
    const text = await written(format, rows);
    expect(firstsOf(text)).toHaveLength(2);
    expect(text).toContain('[198.51.100.1]');
    expect(text).toContain('[::1]');
    expect(text).toMatch(/\n# Left out: any-address 5\n$/);
  });

  it('has rules per address block and family', async () => {
    const rows = [address(1), address(2), exportIndicator(3, 'IPV6', '2001:db8::3'), address(128)];
    const addressRules = new Map([7, 8, 9].map((rev, i) => [4_000_000_000 + 4 * i, rev]));
    expect(firstsOf(await written(format, rows, { addressRules }))).toEqual([
      'sid:4000000000; rev:7',
      'sid:4000000004; rev:8',
      'sid:4000000008; rev:9',
    ]);
  });

  it('keeps the sid of a block when other blocks change', async () => {
    expect(firstsOf(await written(format, [address(200)]))).toEqual(['sid:4000000008; rev:1779753600']);
  });

  it('uses the highest severity, confidence and TLP of a block', async () => {
    const rows = [
      address(1, {
        severity: 'LOW',
        confidence: 90,
        source: 'b',
        firstSeen: new Date('2026-01-01T00:00:00Z'),
      }),
      address(2, { severity: 'CRITICAL', confidence: 10, tlp: 'RED', source: 'a' }),
    ];
    const [rule] = rulesOf(await written(format, rows));
    expect(rule).toContain('(a and others, CRITICAL)"');
    expect(rule).toContain('priority:1');
    expect(rule).toContain(
      'metadata:confidence 90, severity CRITICAL, tlp RED, source a, source b, first_seen 2026-01-01, last_seen',
    );
  });

  it('fits a full block with long source names into a line', async () => {
    const rows = Array.from({ length: 127 }, (_, index) => {
      const last = (0xff00 + index).toString(16);
      return exportIndicator(index + 1, 'IPV6', `2001:db8:ffff:ffff:ffff:ffff:ffff:${last}`, {
        source: `${index}${'x'.repeat(300)}`,
      });
    });
    expect(ruleProblems(await written(format, rows))).toEqual([]);
  });

  it.each(['a', ';', '|;', 'a;'])('fits a long URL full of %s into a line', async (text) => {
    const rows = [
      exportIndicator(1, 'URL', `http://${'h'.repeat(63)}.example/${text.repeat(4000 / text.length)}`),
    ];
    expect(ruleProblems(await written(format, rows))).toEqual([]);
  });

  it.each([
    ['CRITICAL', 'trojan-activity; priority:1;'],
    ['HIGH', 'trojan-activity; priority:1;'],
    ['MEDIUM', 'bad-unknown; priority:2;'],
    ['LOW', 'misc-activity; priority:3;'],
    ['INFO', 'misc-activity; priority:4;'],
  ] as const)('maps the severity %s to classtype and priority', async (severity, rank) => {
    const [rule] = rulesOf(
      await written(format, [exportIndicator(1, 'DOMAIN', 'evil.example', { severity })]),
    );
    expect(rule).toContain(`classtype:${rank}`);
  });

  it('derives the rule revision from the indicator version', async () => {
    const row = exportIndicator(5, 'DOMAIN', 'evil.example', { version: 12 });
    expect(idsOf(await written(format, [row]))).toEqual([
      'sid:3000040; rev:12',
      'sid:3000041; rev:12',
      'sid:3000042; rev:12',
    ]);
  });

  it('never matches on URL credentials', async () => {
    const rows = [exportIndicator(1, 'URL', 'http://user:secret@auth.example/x')];
    const [rule] = rulesOf(await written(format, rows));
    expect(rule?.replace(/msg:"[^"]*"/, '')).not.toMatch(/user|secret/);
    expect(rule).toContain('content:"auth.example"');
  });
});
