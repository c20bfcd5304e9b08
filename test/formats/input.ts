import { fromBufferPromise } from 'yauzl';
import type {
  ExportFormat,
  ExportIndicator,
  ExportInfo,
  Indication,
  Instant,
} from '../../src/formats/format.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import { blockOf, groupSid, indicatorId } from '../../src/model/identity.ts';
import { normalize } from '../../src/model/normalize.ts';
import { INDICATOR_TYPES, type IndicatorType, TLPS } from '../../src/model/vocabulary.ts';

/** An indicator as a writer gets it. The value is normalized; `fields` overrides what follows from it. */
export function exportIndicator(
  number: number,
  type: IndicatorType,
  value: string,
  fields: Partial<ExportIndicator> = {},
): ExportIndicator {
  const normal = normalize(type, value);
  if ('rejected' in normal) throw new Error(`${value}: ${normal.rejected}`);
  return {
    id: indicatorId(normal.type, normal.normalized),
    number,
    version: 1,
    type: normal.type,
    value: normal.value,
    normalized: normal.normalized,
    confidence: 50,
    severity: 'MEDIUM',
    tlp: 'CLEAR',
    tags: [],
    source: 'Example feed',
    firstSeen: new Date('2026-05-01T08:00:00.000Z'),
    lastSeen: new Date('2026-05-20T10:30:00.000Z'),
    expiresAt: null,
    createdAt: new Date('2026-05-21T00:00:00.000Z'),
    modifiedAt: new Date('2026-05-21T00:00:00.000Z'),
    forDetection: true,
    whitelistedParts: [],
    ofCertificate: false,
    externalIds: [],
    records: [],
    originalIds: [],
    indicates: [],
    score: null,
    group: null,
    ...fields,
  };
}

/** One of each type and some more: what the golden files are made of. */
export const GOLDEN: ExportIndicator[] = [
  exportIndicator(1, 'IPV4', '198.51.100.7', {
    severity: 'CRITICAL',
    confidence: 95,
    tags: ['botnet', 'c2'],
  }),
  exportIndicator(2, 'IPV4', '198.51.100.6', { severity: 'LOW' }),
  exportIndicator(3, 'IPV6', '2001:db8::bad', { tlp: 'GREEN' }),
  exportIndicator(4, 'DOMAIN', 'evil.example', { severity: 'HIGH', confidence: 80, version: 3 }),
  exportIndicator(5, 'DOMAIN', 'bücher-phish.example'),
  exportIndicator(6, 'URL', 'http://evil.example:8080/gate.php?id=1;x="|y"'),
  exportIndicator(7, 'URL', 'https://login.example/%7Euser/a b'),
  exportIndicator(8, 'MD5', 'd41d8cd98f00b204e9800998ecf8427a'),
  exportIndicator(9, 'SHA1', 'da39a3ee5e6b4b0d3255bfef95601890afd8070a'),
  exportIndicator(10, 'SHA256', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85a', {
    expiresAt: new Date('2027-01-01T00:00:00.000Z'),
  }),
  exportIndicator(11, 'EMAIL', 'Phisher@evil.example'),
  exportIndicator(12, 'CVE', 'CVE-2021-44228'),
  exportIndicator(13, 'BTC_ADDRESS', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'),
  exportIndicator(14, 'REGISTRY_KEY', 'HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\evil'),
  exportIndicator(15, 'MUTEX', "Global\\{it's|mine}"),
  exportIndicator(16, 'FILENAME', 'C:\\Users\\Public\\in voice.exe'),
  exportIndicator(17, 'USER_AGENT', 'Mozilla/4.0 (compatible; "evil"|bot)'),
  exportIndicator(18, 'ASN', 'AS64496'),
  exportIndicator(19, 'DOMAIN', 'context-only.example', { forDetection: false }),
  exportIndicator(20, 'DOMAIN', 'restricted.example', {
    tlp: 'AMBER_STRICT',
    source: '=HYPERLINK("http://x";"y"), "quoted"',
    tags: ['#first', '-lead', 'a;b', "it's", 'new\nline', 'tab\there', 'übel 😈'],
    externalIds: ['indicator--01234567-89ab-4cde-8f01-23456789abcd'],
    modifiedAt: new Date('2026-05-25T12:00:00.000Z'),
  }),
];

/** Values as they stand in reports and as attackers choose them; each passes `normalize`. */
export const HOSTILE: ExportIndicator[] = hostileValues().map(([type, value], index) =>
  exportIndicator(1000 + index, type, value, {
    source: 'a "feed"; of|odd \\names\u202e\t\n=1+1',
    tags: [
      '"quoted"',
      '#hash',
      '-dash',
      '=1+1',
      'a,b',
      'a;b',
      'a|b',
      'back\\slash',
      'line\nbreak',
      'tab\there',
      '😈',
    ],
  }),
);

function hostileValues(): [IndicatorType, string][] {
  const odd = [
    '"',
    "'",
    ';',
    '|',
    '\\',
    '*',
    '?',
    '%',
    '$(x)',
    '`x`',
    '<b>',
    '{}',
    '[0]',
    '#',
    '=1',
    '-1',
    '😈',
    '\u202e',
    'é',
  ];
  return [
    ['DOMAIN', '_dmarc.xn--bcher-kva.example'],
    ['DOMAIN', 'a-.b_c.example'],
    ['DOMAIN', `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(50)}.example`],
    ['IPV6', '::1'],
    ['IPV6', '2001:db8:0:0:1:0:0:1'],
    ['URL', `http://long.example/${'a'.repeat(8000)}`],
    ['URL', 'http://user:pa%3Bss@auth.example/x'],
    ['URL', 'http://[2001:db8::5]:8080/six'],
    ['URL', 'http://203.0.113.9/'],
    ['URL', 'http://rooted.example./x'],
    ['URL', 'http://rooted.example.:8080/x'],
    ['URL', 'ftp://files.example/x.exe'],
    ['URL', 'https://only.example/'],
    ['EMAIL', "o'brien+x#y@evil.example"],
    ...odd.map((text): [IndicatorType, string] => ['URL', `http://odd.example/a${text}b?c=${text}`]),
    ...odd.map((text): [IndicatorType, string] => ['FILENAME', `C:\\t${text}mp\\${text}x.exe`]),
    ...odd.map((text): [IndicatorType, string] => ['USER_AGENT', `${text}Mozilla ${text}`]),
    ...odd.map((text): [IndicatorType, string] => ['MUTEX', `${text}Global\\${text}`]),
    ...odd.map((text): [IndicatorType, string] => ['REGISTRY_KEY', `HKCU\\Software\\${text}x${text}`]),
  ];
}

/** Links that everybody may know of. */
export const toward = (...ids: string[]): Indication[] => ids.map((id) => ({ id, tlp: 'CLEAR' }));

const latest = (dates: Instant[]) => (dates.length === 0 ? null : new Date(Math.max(...dates.map(Number))));

/** What stands before the rows; by default as it follows from them. */
const CHANGED_AT = new Date('2026-05-26T00:00:00.000Z');

/** Yields nothing. */
export async function* nothing() {}

function exportInfo(rows: readonly ExportIndicator[], fields: Partial<ExportInfo> = {}): ExportInfo {
  return {
    query: '',
    digest: '0123456789abcdef0123456789abcdef',
    total: rows.length,
    rows: rows.length,
    tlps: TLPS.filter((tlp) => rows.some((row) => row.tlp === tlp)),
    lastSeen: latest(rows.map((row) => row.lastSeen)),
    changedAt: CHANGED_AT,
    addressRules: new Map(
      rows.flatMap(({ number }) =>
        (['IPV4', 'IPV6'] as const).map((family) => [
          groupSid(blockOf(number), family),
          CHANGED_AT.getTime() / 1000,
        ]),
      ),
    ),
    day: new Date('2026-05-27T00:00:00.000Z'),
    entities: [],
    relationships: [],
    ja3: [],
    attributes: nothing,
    reports: nothing,
    ...fields,
  };
}

/** Those that the format gets, in its order. */
export function rowsFor(format: ExportFormat, rows: readonly ExportIndicator[]): ExportIndicator[] {
  return rows
    .filter(
      ({ type, forDetection }) => format.types.includes(type) && (forDetection || !format.detectionOnly),
    )
    .sort(format.order === 'type' ? byTypeOf(format) : ORDERS[format.order]);
}

/** The whole text of an export: rows chosen and ordered as the database would. */
export async function written(
  format: ExportFormat,
  rows: readonly ExportIndicator[],
  fields: Partial<ExportInfo> = {},
  batchSize = 3,
  skipped = new Skipped(),
): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(format, rows, fields, batchSize, skipped))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

/** The files of an archive by name. */
export async function writtenFiles(
  format: ExportFormat,
  rows: readonly ExportIndicator[],
  fields: Partial<ExportInfo> = {},
  skipped = new Skipped(),
): Promise<Map<string, string>> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(format, rows, fields, 3, skipped)) pieces.push(Buffer.from(piece));
  return filesOf(Buffer.concat(pieces));
}

/** The files of a zip archive by name. */
export async function filesOf(archive: Buffer): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const zip = await fromBufferPromise(archive, { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    files.set(entry.fileName.replace(/^rules\//, ''), Buffer.concat(chunks).toString());
  }
  return files;
}

function piecesOf(
  format: ExportFormat,
  rows: readonly ExportIndicator[],
  fields: Partial<ExportInfo>,
  batchSize: number,
  skipped: Skipped,
) {
  const chosen = rowsFor(format, rows).map((row) => withOnly(format.columns, row));
  async function* batches() {
    for (let at = 0; at < chosen.length; at += batchSize) yield chosen.slice(at, at + batchSize);
  }
  return format.write(batches(), exportInfo(rows, fields), skipped);
}

/** What the format has not said that it reads is not there. */
function withOnly(columns: ExportFormat['columns'], row: ExportIndicator): ExportIndicator {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as unknown as ExportIndicator;
}

const byTypeOf =
  ({ types }: ExportFormat) =>
  (a: ExportIndicator, b: ExportIndicator) =>
    types.indexOf(a.type) - types.indexOf(b.type) || a.number - b.number;

const ORDERS = {
  host: (a: ExportIndicator, b: ExportIndicator) =>
    isAddress(a) || isAddress(b)
      ? Number(isAddress(b)) - Number(isAddress(a)) || a.number - b.number
      : reversedName(a) < reversedName(b)
        ? -1
        : 1,
  list: (a: ExportIndicator, b: ExportIndicator) =>
    Number(b.lastSeen) - Number(a.lastSeen) || (a.id < b.id ? -1 : 1),
  number: (a: ExportIndicator, b: ExportIndicator) => a.number - b.number,
  address(a: ExportIndicator, b: ExportIndicator): number {
    const [left, right] = [rank(a), rank(b)];
    if (left !== right) return left - right;
    return left === 2 ? b.number - a.number : addressKey(a.value) < addressKey(b.value) ? -1 : 1;
  },
};

const rank = ({ type }: ExportIndicator) => Math.min(INDICATOR_TYPES.indexOf(type), 2);

const isAddress = (row: ExportIndicator) => rank(row) < 2;

/** Sorts as text the way the addresses do. */
function addressKey(address: string): string {
  if (!address.includes(':'))
    return address
      .split('.')
      .map((part) => part.padStart(3, '0'))
      .join('.');
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const zeros = tail === undefined ? [] : Array(8 - groups(head).length - groups(tail).length).fill('0');
  return [...groups(head), ...zeros, ...groups(tail ?? '')].map((group) => group.padStart(4, '0')).join(':');
}

const reversedName = ({ normalized }: ExportIndicator) => `${[...normalized].reverse().join('')}.`;
