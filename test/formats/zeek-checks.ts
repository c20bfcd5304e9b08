import ipaddr from 'ipaddr.js';

/** What Zeek's reader and its intelligence framework make of a file, transcribed: empty when nothing is wrong. */
export function intelProblems(text: string): string[] {
  const [header, ...lines] = text.replace(/\n$/, '').split('\n');
  const problems = header === HEADER ? [] : [`header: ${header}`];
  const seen = new Set<string>();
  for (const line of lines) {
    const problem = lineProblem(line, seen);
    if (problem) problems.push(`${problem}: ${line}`);
  }
  return problems;
}

const HEADER = '#fields\tindicator\tindicator_type\tmeta.source\tmeta.desc';
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;

function lineProblem(line: string, seen: Set<string>): string | null {
  if (line.startsWith('#')) return 'a comment';
  if (CONTROL.test(line)) return 'a control character';
  const fields = line.split('\t').map(unescaped);
  const [indicator = '', type = ''] = fields;
  if (fields.length !== 4) return `${fields.length} fields`;
  // An empty field, `-` and `(empty)` stand for no value at all.
  if (line.split('\t').some((field) => ['', '-', '(empty)'].includes(field))) return 'an unset field';
  if (fields.some((field) => field !== field.trim())) return 'blanks at an end';
  const key = `${indicator.toLowerCase()} ${type}`;
  if (seen.has(key)) return 'twice';
  seen.add(key);
  const form = FORMS[type];
  return form?.(indicator) ? null : `not of the form of ${type}`;
}

const unescaped = (field: string) =>
  field.replace(/\\x([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

const NAME = /^[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_-]{1,63})*$/i;

const FORMS: Record<string, (indicator: string) => boolean> = {
  'Intel::ADDR': (text) => ipaddr.isValid(text) && !text.includes('/'),
  'Intel::DOMAIN': (text) => NAME.test(text) && !ipaddr.isValid(text),
  'Intel::EMAIL': (text) => /^[^@\s<>]+@[^@\s<>]+$/.test(text),
  'Intel::FILE_HASH': (text) => /^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/.test(text),
  'Intel::FILE_NAME': (text) => !/[\\/]/.test(text),
  'Intel::SOFTWARE': () => true,
  // Zeek puts a URL together of host and URI, without scheme, user and the port 80.
  'Intel::URL'(text) {
    const [host = ''] = text.split('/');
    const isWhole = text.includes('/') && !/^[a-z][a-z0-9+.-]*:\/\//i.test(text);
    return isWhole && !host.includes('@') && !host.endsWith(':80') && !/[# ]/.test(text);
  },
};
