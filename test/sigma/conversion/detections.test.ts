import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { convertRule, QUERY_LANGUAGES, type QueryLanguage } from '../../../src/sigma/conversion/convert.ts';
import { Unconvertible } from '../../../src/sigma/conversion/unconvertible.ts';

const UNKNOWN = { product: 'example' };
const WINDOWS = { product: 'windows', category: 'process_creation' };

/** @param detection in YAML */
const converted = (detection: string, language: QueryLanguage, logsource: object = UNKNOWN) =>
  convertRule({ logsource: { ...logsource }, detection: parse(detection) }, language).query;

const splunk = (detection: string) => converted(detection, 'splunk-spl');
/** The condition of a query on the command line of a process. */
const kusto = (detection: string) =>
  converted(detection, 'defender-kql', WINDOWS)
    .split('\n')
    .slice(2)
    .join('\n')
    .replace(/^\| where /, '');
const lucene = (detection: string) => converted(detection, 'elastic-lucene');
const esql = (detection: string) =>
  converted(detection, 'elastic-esql', { category: 'proxy' }).replace(/^.*?\| WHERE /s, '');

function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof Unconvertible) return error.reason;
    throw error;
  }
  return 'converted';
}

const only = (field: string) => `{ a: { ${field} }, condition: a }`;

describe('a value with modifiers', () => {
  it.each([
    ['f: x', 'f="x"'],
    ['f: 4625', 'f="4625"'],
    ['f: true', 'f="true"'],
    ["f: ''", 'f=""'],
    ['f: null', 'NOT f=*'],
    ["f: '*'", 'f=*'],
    ['f|exists: true', 'f=*'],
    ['f|exists: false', 'NOT f=*'],
    ['f: [x, y]', 'f IN ("x", "y")'],
    ['f|contains: [x, y]', 'f IN ("*x*", "*y*")'],
    ['f|contains|all: [x, y]', 'f="*x*" f="*y*"'],
    ['f|startswith: x', 'f="x*"'],
    ['f|endswith: x', 'f="*x"'],
    ["f|contains: '*x'", 'f="*x*"'],
    ["f: 'C:\\a\\b\\\\*.exe'", 'f="C:\\\\a\\\\b\\\\*.exe"'],
    ["f|contains|windash: ' -p '", 'f IN ("* -p *", "* /p *", "* –p *", "* —p *", "* ―p *")'],
    ['f|base64: foo', 'f="Zm9v"'],
    ['f|base64offset|contains: foobar', 'f IN ("*Zm9vYmFy*", "*Zvb2Jhc*", "*mb29iYX*")'],
    ['f|wide|base64: ab', 'f="YQBiAA=="'],
    ['f|utf16be|base64: ab', 'f="AGEAYg=="'],
    ['f|utf16|base64: ab', 'f="//5hAGIA"'],
    ['f|cidr: 10.0.0.0/8', 'f="10.0.0.0/8"'],
    ['f|gte: 7', 'f>=7'],
    ['f|lt: -0.5', 'f<-0.5'],
    ['f|cased: x', `*\n| where if(match('f', "(?s)^x$"), 1, 0)==1`],
    ['f: 10.0.0.0/8', `*\n| where if(match('f', "(?is)^10\\\\.0\\\\.0\\\\.0/8$"), 1, 0)==1`],
    ['f: a?c', `*\n| where if(match('f', "(?is)^a.c$"), 1, 0)==1`],
    ["f: 'a\\*c'", `*\n| where if(match('f', "(?is)^a\\\\*c$"), 1, 0)==1`],
    ['f: a`b`', String.raw`*${'\n'}| where if(match('f', "(?is)^a\\x{60}b\\x{60}$"), 1, 0)==1`],
    ["f|re: 'a\\`\\\\`'", String.raw`*${'\n'}| where if(match('f', "a\\x{60}\\\\\\x{60}"), 1, 0)==1`],
    ['f|re: a(b)\\d', `*\n| where if(match('f', "a(b)\\\\d"), 1, 0)==1`],
    ['f|re|i: a', `*\n| where if(match('f', "(?i)a"), 1, 0)==1`],
    ['f|fieldref: g', `*\n| where if(lower('f')==lower('g'), 1, 0)==1`],
  ])('%s is %s in SPL', (field, query) => {
    expect(splunk(only(field))).toBe(query);
  });

  it.each([
    ['CommandLine: x', 'ProcessCommandLine =~ "x"'],
    ['CommandLine: [x, y]', 'ProcessCommandLine in~ ("x", "y")'],
    ['CommandLine|cased: [x, y]', 'ProcessCommandLine in ("x", "y")'],
    ['CommandLine|contains|cased: x', 'ProcessCommandLine contains_cs "x"'],
    ['CommandLine|startswith: x', 'ProcessCommandLine startswith "x"'],
    ['CommandLine|endswith: [x, y]', 'ProcessCommandLine endswith "x" or ProcessCommandLine endswith "y"'],
    ['CommandLine: a*c', 'ProcessCommandLine matches regex "(?is)^a.*c$"'],
    ['CommandLine: null', 'isempty(ProcessCommandLine)'],
    ["CommandLine: ''", 'isempty(ProcessCommandLine)'],
    ["CommandLine: '*'", 'isnotempty(ProcessCommandLine)'],
    ["CommandLine|re: '\\s[^a-c]{2}$'", 'ProcessCommandLine matches regex "[\\\\x{9}-\\\\x{d} ][^a-c]{2}$"'],
    ['ProcessId: [1, 2]', 'ProcessId in (1, 2)'],
    ['ProcessId|gt: 9', 'ProcessId > 9'],
    ['User: NT AUTHORITY\\SYSTEM', 'AccountDomain =~ "NT AUTHORITY"\n| where AccountName =~ "SYSTEM"'],
    ['User|contains: AUTORI', 'AccountDomain contains "AUTORI" or AccountName contains "AUTORI"'],
    [
      'Hashes|contains: SHA1=AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD',
      'SHA1 =~ "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"',
    ],
    [
      'CommandLine|fieldref: ParentCommandLine',
      '(isnotempty(ProcessCommandLine) and ProcessCommandLine =~ InitiatingProcessCommandLine)',
    ],
  ])('%s is %s in KQL', (field, condition) => {
    expect(kusto(only(field))).toBe(condition);
  });

  it.each([
    ['f: a b', 'f:"a b"'],
    ["f: '>5'", 'f:">5"'],
    ['f|contains: a b', 'f:*a\\ b*'],
    ['f: [a*, b]', 'f:(a* OR "b")'],
    ['f: null', '*:* AND NOT _exists_:f'],
    ['f|re: ^a/b', 'f:/a\\/b.*/'],
    ['f|re|i: aé1$', 'f:/.*[aA][éÉ]1/'],
    ['f|re: a|^b', 'f:/.*a.*|b.*/'],
    ['f|re: (?:a|b)+?', 'f:/.*(a|b)+.*/'],
  ])('%s is %s in Lucene', (field, query) => {
    expect(lucene(only(field))).toBe(query);
  });

  it.each([
    ['c-uri: aB', 'TO_LOWER(url.original) == "ab"'],
    ['c-uri|cased: aB', 'url.original == "aB"'],
    ['c-uri: [a, b]', 'TO_LOWER(url.original) IN ("a", "b")'],
    ["c-uri|contains: 'a\\b'", 'TO_LOWER(url.original) LIKE "*a\\\\\\\\b*"'],
    ["c-uri|contains: 'a\\?b'", 'TO_LOWER(url.original) LIKE "*a\\\\?b*"'],
    ['c-uri|re: a\\.b', 'url.original RLIKE ".*a\\\\.b.*"'],
    ['c-uri: null', 'url.original IS NULL'],
    ['dst_ip|cidr: [10.0.0.0/8, fc00::/7]', 'CIDR_MATCH(destination.ip, "10.0.0.0/8", "fc00::/7")'],
    ['sc-status: [200, 404]', 'http.response.status_code IN (200, 404)'],
    ["dst_ip|startswith: '10.'", 'TO_STRING(destination.ip) LIKE "10.*"'],
  ])('%s is %s in ES|QL', (field, condition) => {
    expect(esql(only(field))).toBe(condition);
  });

  it.each([
    ['f|nonsense: x', 'modifier'],
    ['f|constructor: 1', 'modifier'],
    ['f|re|constructor: x', 'modifier'],
    ['f|contains|startswith: x', 'modifier'],
    ['f|wide: x', 'modifier'],
    ['f|base64: a*', 'modifier'],
    ['f|re|x: a', 'modifier'],
    ['f|expand: "%a%"', 'placeholder'],
    ['f|cidr: 10.0.0.0', 'value'],
    ['f|gt: many', 'detection'],
    ['f|exists: maybe', 'detection'],
    ['f: []', 'detection'],
    ['f: { g: x }', 'detection'],
    ['f: 12345678901234567890', 'detection'],
    ['"f g": x', 'field'],
    ['"f\\" OR g": x', 'field'],
    ["f|windash: '-a -b -c -d'", 'size'],
  ])('%s is refused because of its %s', (field, reason) => {
    expect(reasonOf(() => splunk(only(field)))).toBe(reason);
  });

  it.each([
    ['(?=a)b', 'a look-ahead'],
    ['(a)\\1', 'a back reference'],
    ['a++', 'a possessive quantifier'],
    ['(a', 'an open parenthesis'],
    ['[a', 'an open class'],
    ['*a', 'a quantifier of nothing'],
    ['[[:alpha:]]', 'a named class'],
    ['\\p{L}', 'a property'],
    ['a{2000}', 'many repetitions'],
  ])('the regular expression %s is refused in KQL: it has %s', (regex) => {
    expect(reasonOf(() => kusto(only(`CommandLine|re: '${regex}'`)))).toBe('regex');
  });

  it.each(['\\ba', 'a$b', 'a^b', '(^|a)b', '(?m)^a'])(
    'the regular expression %s is refused in Lucene',
    (regex) => {
      expect(reasonOf(() => lucene(only(`f|re: '${regex}'`)))).toBe('regex');
    },
  );
});

describe('a condition', () => {
  const selections = "a: { f: '1' }, b: { f: '2' }, c: { f: '3' }, _d: { f: '4' }";
  it.each([
    ['a or b and c', 'f="1" OR (f="2" f="3")'],
    ['(a or b) and c', 'f IN ("1", "2") f="3"'],
    ['not a and b', 'NOT f="1" f="2"'],
    ['not (a and b)', 'NOT (f="1" f="2")'],
    ['not not a', 'f="1"'],
    ['1 of them', 'f IN ("1", "2", "3")'],
    ['all of them', 'f="1" f="2" f="3"'],
    ['any of _*', 'f="4"'],
    ['A_OR or a', ''],
    ['1 of *', 'f IN ("1", "2", "3", "4")'],
    ['a AND NOT b', 'f="1" NOT f="2"'],
  ])('%s is %s', (condition, query) => {
    const run = () => splunk(`{ ${selections}, condition: '${condition}' }`);
    expect(query === '' ? reasonOf(run) : run()).toBe(query === '' ? 'condition' : query);
  });

  it.each(['', 'a b', 'a and', '(a', 'a)', 'd', '1 of x*', '2 of them', 'a | count() > 5', 'not'])(
    '"%s" is refused',
    (condition) => {
      expect(reasonOf(() => splunk(`{ ${selections}, condition: '${condition}' }`))).toBe('condition');
    },
  );

  it('of several texts is true if one is', () => {
    expect(splunk(`{ ${selections}, condition: [a, b] }`)).toBe('f IN ("1", "2")');
  });

  it('with a time frame is refused', () => {
    expect(reasonOf(() => splunk(`{ ${selections}, timeframe: 5m, condition: a }`))).toBe('condition');
  });

  it.each([
    [
      'many comparisons',
      `{ a: { f: [${Array.from({ length: 10_001 }, (_, i) => i).join()}] }, condition: a }`,
    ],
    [
      'many permutations of dashes',
      `{ a: { 'f|windash': [${Array.from({ length: 99 }, (_, i) => `'-a -b -c${i}'`).join()}] }, condition: a }`,
    ],
    ['many uses of a selection', `{ a: { f: [${'x,'.repeat(999)}] }, condition: '${'a or '.repeat(11)}a' }`],
    ['many parentheses', `{ ${selections}, condition: '${'('.repeat(99)}a${')'.repeat(99)}' }`],
  ])('with %s is refused', (_, detection) => {
    expect(reasonOf(() => splunk(detection))).toBe('size');
  });
});

describe('selections', () => {
  it.each([
    ['{ a: [{ f: x, g: y }, { f: z }], condition: a }', '(f="x" g="y") OR f="z"'],
    ['{ a: [x y, "*z"], condition: a }', '_raw IN ("*x y*", "*z*")'],
    ["{ a: { '|all': [x, y] }, condition: a }", '_raw="*x*" _raw="*y*"'],
    ['{ a: x, condition: a }', '_raw="*x*"'],
  ])('%s are %s', (detection, query) => {
    expect(splunk(detection)).toBe(query);
  });

  it.each(['{ a: [], condition: a }', '{ a: {}, condition: a }', '{ a: [[x]], condition: a }', 'text'])(
    '%s are refused',
    (detection) => {
      expect(reasonOf(() => splunk(detection))).toBe('detection');
    },
  );

  it.each(QUERY_LANGUAGES.filter((language) => language !== 'splunk-spl'))(
    'of words that any field may have are refused in %s',
    (language) => {
      const rule = { logsource: WINDOWS, detection: { a: ['word'], condition: 'a' } };
      expect(reasonOf(() => convertRule(rule, language))).toBe('keywords');
    },
  );
});

describe('an event without a field', () => {
  it('passes a negated comparison in ES|QL, where a comparison with it is null', () => {
    expect(esql('{ a: { c-uri: x }, b: { cs-host: y }, condition: a and not b }')).toBe(
      'TO_LOWER(url.original) == "x"\n  AND NOT COALESCE(TO_LOWER(url.domain) == "y", FALSE)',
    );
  });

  it('passes a negated comparison of numbers or networks in KQL, where a comparison with it is null', () => {
    expect(kusto('{ a: { CommandLine: x }, b: { ProcessId: 4 }, condition: a and not b }')).toBe(
      'ProcessCommandLine =~ "x"\n| where not(coalesce(ProcessId == 4, false))',
    );
    expect(kusto('{ a: { CommandLine: x }, b: { Image: y }, condition: a and not b }')).toBe(
      'ProcessCommandLine =~ "x"\n| where not(FolderPath =~ "y")',
    );
  });

  it('passes a negation in Lucene, which needs something to find', () => {
    expect(lucene('{ a: { f: x }, b: { g: y }, condition: a or not b }')).toBe(
      'f:"x" OR (*:* AND NOT g:"y")',
    );
  });
});
