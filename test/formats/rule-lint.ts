const RULE =
  /^alert (?:ip|tcp|dns|tls|ssl|http1?|smtp|ftp-data|smb|nfs) (?:\$HOME_NET|any) any (?:->|<>) \S+ any \((.*;)\)$/;
const STOCK_CLASSES = ['trojan-activity', 'bad-unknown', 'misc-activity'];
/** Suricata reads lines of up to 8,192 bytes, the end and a NUL among them. */
const MAX_LINE = 8190;

/** What the engines let through and should not be in a file of rules; empty when there is nothing. */
export function ruleProblems(text: string): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const sid = /; sid:(\d+); rev:[1-9]\d*;\)$/.exec(line)?.[1] ?? '';
    const condition = line.replace(/msg:"[^"]*"; |(?:metadata|classtype|priority|sid|rev):[^;]*; ?/g, '');
    for (const problem of lineProblems(line, Number(sid))) problems.push(`${problem}: ${line.slice(0, 200)}`);
    for (const [what, key] of [
      ['sid', sid],
      ['condition', condition],
    ] as const) {
      if (seen.has(`${what} ${key}`)) problems.push(`a second one of this ${what}: ${key}`);
      seen.add(`${what} ${key}`);
    }
  }
  return problems;
}

function lineProblems(line: string, sid: number): string[] {
  const options = RULE.exec(line)?.[1] ?? '';
  const [, classtype = ''] = /; classtype:([^;]+);/.exec(options) ?? [];
  const strings = [...options.matchAll(/(msg|content):"([^"]*)"/g)];
  const isWrong = {
    'no rule': options === '',
    'too long': line.length > MAX_LINE,
    'not printable ASCII': /[^ -~]/.test(line),
    'not a sid of ours': !(sid >= 3_000_000 && sid <= 4_294_967_295),
    'no stock class': !STOCK_CLASSES.includes(classtype),
    'quotes that do not pair': (options.match(/"/g) ?? []).length % 2 === 1,
    'a semicolon or backslash in a string': strings.some(([, , text = '']) => /[;\\]/.test(text)),
    'an empty string': strings.some(([, , text]) => text === ''),
    'no hexadecimal between bars': strings.some(
      ([, name, text]) => name === 'content' && !isPattern(text ?? ''),
    ),
  };
  return Object.entries(isWrong).flatMap(([problem, holds]) => (holds ? [problem] : []));
}

function isPattern(text: string): boolean {
  return /^(?:[^|:]|\|[0-9A-F]{2}(?: [0-9A-F]{2})*\|)+$/.test(text);
}
