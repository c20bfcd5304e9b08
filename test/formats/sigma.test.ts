import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ExportIndicator } from '../../src/formats/format.ts';
import { SIGMA_TYPES, type SigmaSubject, sigmaHead, sigmaRules, sigmaTail } from '../../src/formats/sigma.ts';
import { expectGolden } from './golden.ts';
import { exportIndicator, GOLDEN, HOSTILE } from './input.ts';
import { expectSound, patternsOf, type SigmaRule } from './sigma-checks.ts';

const ACTOR: SigmaSubject = {
  kind: 'actor',
  id: 'a1b2c3d4-0000-5000-8000-000000000016',
  name: 'Example Bear',
  attackId: 'G0016',
};
const CHANGED = {
  createdAt: new Date('2026-05-21T00:00:00.000Z'),
  modifiedAt: new Date('2026-05-22T00:00:00.000Z'),
};

async function bundle(
  rows: readonly ExportIndicator[],
  { subject = ACTOR, changed = CHANGED, batchSize = 7 } = {},
): Promise<{ documents: string[]; leftOut: number }> {
  async function* batches() {
    for (let at = 0; at < rows.length; at += batchSize) yield rows.slice(at, at + batchSize);
  }
  const rules = sigmaRules(subject, batches(), changed);
  const documents: string[] = [];
  for (;;) {
    const { done, value } = await rules.next();
    if (done) return { documents, leftOut: value };
    documents.push(value.text);
  }
}

const rulesOf = async (rows: readonly ExportIndicator[], options = {}): Promise<SigmaRule[]> =>
  (await bundle(rows, options)).documents.map((text) => parse(text));

const detectionOf = async (row: ExportIndicator): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    (await rulesOf([row])).map(({ logsource, detection }) => [logsource.category, detection]),
  );

const expressible = (rows: readonly ExportIndicator[]) =>
  rows.filter(({ type, forDetection }) => SIGMA_TYPES.includes(type) && forDetection);

describe('sigma', () => {
  it('matches the golden file', async () => {
    const more = [
      exportIndicator(30, 'FILENAME', 'C:\\Users\\victim\\AppData\\Roaming\\evil.exe', { severity: 'HIGH' }),
      exportIndicator(31, 'FILENAME', 'dropper.exe'),
      exportIndicator(32, 'FILENAME', '%TEMP%\\stage2.dll'),
      exportIndicator(33, 'FILENAME', '/usr/lib/.hidden/evil.so'),
      exportIndicator(34, 'FILENAME', '/Library/LaunchDaemons/com.example.evil.plist'),
      exportIndicator(35, 'FILENAME', '\\\\.\\pipe\\evil_7f'),
      exportIndicator(36, 'REGISTRY_KEY', 'HKCU\\Software\\Evil'),
      exportIndicator(37, 'FILENAME', 'C:\\Users\\Public\\invoice\u202efdp.exe'),
      exportIndicator(38, 'DOMAIN', 'duckdns.org'),
      exportIndicator(39, 'FILENAME', '%STARTUP%\\evil.lnk'),
      exportIndicator(40, 'FILENAME', 'run.sh'),
      exportIndicator(41, 'FILENAME', '%TEMP%\\%random%.dll'),
    ];
    const { documents, leftOut } = await bundle([...expressible(GOLDEN), ...more]);
    const facts = { ruleCount: documents.length, minConfidence: 50, leftOut: { MUTEX: 1, EMAIL: 1 } };
    const text = `${sigmaHead(ACTOR, facts)}${documents.map((rule) => `---\n${rule}`).join('')}`;
    await expectGolden(text + sigmaTail({ indicators: leftOut, placeholders: 0 }), 'sigma-actor.yml');
  });

  it('writes valid rules for hostile values', async () => {
    const subject = { ...ACTOR, name: 'a: "b"\n# c \u202e\u0000 \'d\' {e} *f &g %h | > - x'.repeat(4) };
    const { documents } = await bundle(expressible(HOSTILE), { subject });
    expect(documents.length).toBeGreaterThan(3);
    expectSound(documents);
  });

  it.each([
    ['\\', '\\\\'],
    ['a\\b', 'a\\b'],
    ['a\\\\b', 'a\\\\\\\\b'],
    ['*', '\\*'],
    ['a?b', 'a\\?b'],
    ['a\\*b', 'a\\\\\\*b'],
    ['a\\\\?', 'a\\\\\\\\\\?'],
    ['a\\', 'a\\\\'],
  ])('escapes the user agent %s per the specification', async (value, pattern) => {
    const { proxy } = await detectionOf(exportIndicator(1, 'USER_AGENT', value));
    expect(proxy).toMatchObject({ selection_user_agent: { 'c-useragent': pattern } });
  });

  it('matches a domain and its subdomains, but not similar names', async () => {
    const { dns_query } = await detectionOf(exportIndicator(1, 'DOMAIN', 'evil.example'));
    expect(dns_query).toEqual({
      selection_domain: { QueryName: 'evil.example' },
      selection_subdomain: { 'QueryName|endswith': '.evil.example' },
      condition: '1 of selection_*',
    });
  });

  it.each(['duckdns.org', 'github.io', 'co.uk', 'xn--55qx5d.cn'])(
    'matches only the public suffix %s itself, not its subdomains',
    async (value) => {
      const detections = await detectionOf(exportIndicator(1, 'DOMAIN', value));
      expect(detections).toEqual({
        dns_query: { selection_domain: { QueryName: value }, condition: '1 of selection_*' },
        proxy: { selection_domain: { 'cs-host': value }, condition: '1 of selection_*' },
        network_connection: {
          selection_domain: { DestinationHostname: value },
          condition: '1 of selection_*',
        },
      });
    },
  );

  it('matches subdomains of a name below a public suffix', async () => {
    const { dns_query } = await detectionOf(exportIndicator(1, 'DOMAIN', 'evil.duckdns.org'));
    expect(dns_query).toMatchObject({ selection_subdomain: { 'QueryName|endswith': '.evil.duckdns.org' } });
  });

  it('writes IPv6 in both notations, always as text', async () => {
    const { documents } = await bundle([exportIndicator(1, 'IPV6', '1:2:3:4:5:6::8')]);
    for (const text of documents) expect(text).toContain("'1:2:3:4:5:6:0:8'");
    const { network_connection } = await detectionOf(exportIndicator(1, 'IPV6', '2001:db8::bad'));
    expect(network_connection).toMatchObject({
      selection_ipv6: { DestinationIp: ['2001:db8::bad', '2001:db8:0:0:0:0:0:bad'] },
    });
  });

  it.each([
    ['http://user:secret@evil.example:8080/a', 'http://', 'evil.example:8080/a'],
    ['wss://evil.example/socket', 'https://', 'evil.example/socket'],
    ['http://evil.example/a?b=1', 'http://', 'evil.example/a\\?b=1'],
    ['http://[2001:db8::bad]/a', 'http://', '[2001:db8::bad]/a'],
  ])('writes the URL %s as requested, with and without its scheme', async (value, scheme, rest) => {
    const { proxy } = await detectionOf(exportIndicator(1, 'URL', value));
    expect(proxy).toMatchObject({ selection_url: { 'c-uri': [scheme + rest, rest] } });
  });

  it('writes a URL with a dot after its host with and without it', async () => {
    const { proxy } = await detectionOf(exportIndicator(1, 'URL', 'ftp://evil.example.:2121/a'));
    const urls = ['ftp://evil.example:2121/a', 'ftp://evil.example.:2121/a'];
    expect(proxy).toMatchObject({ selection_url: { 'c-uri': urls } });
  });

  it('writes patterns shared by two schemes once', async () => {
    const rows = ['http', 'https'].map((scheme, index) =>
      exportIndicator(index, 'URL', `${scheme}://evil.example/a`),
    );
    const [proxy] = await rulesOf(rows);
    expect(patternsOf(proxy?.detection ?? {}, 'selection_url')).toEqual([
      'http://evil.example/a',
      'evil.example/a',
      'https://evil.example/a',
    ]);
  });

  it.each([
    ['evil.exe', 'selection_name', '\\evil.exe'],
    ['temp\\evil.exe', 'selection_name', '\\temp\\evil.exe'],
    ['.\\evil.exe', 'selection_name', '\\evil.exe'],
    ['%APPDATA%\\x\\evil.exe', 'selection_name', '\\AppData\\Roaming\\x\\evil.exe'],
    ['%WinDir%\\evil.exe', 'selection_name', ':\\Windows\\evil.exe'],
    ['%UNKNOWN%\\evil.exe', 'selection_name', '\\evil.exe'],
    ['C:/Windows/evil.exe', 'selection_path', 'C:\\Windows\\evil.exe'],
    ['\\\\?\\C:\\Windows\\evil.exe', 'selection_path', 'C:\\Windows\\evil.exe'],
    ['C:\\Users\\victim\\evil.exe', 'selection_path', 'C:\\Users\\\\*\\evil.exe'],
    ['C:\\Users\\<user>\\evil.exe', 'selection_path', 'C:\\Users\\\\*\\evil.exe'],
    ['C:\\Users\\Public\\evil.exe', 'selection_path', 'C:\\Users\\Public\\evil.exe'],
    ['C:\\Users\\evil.exe', 'selection_path', 'C:\\Users\\evil.exe'],
    ['\\\\server\\share\\evil.exe', 'selection_path', '\\\\\\\\server\\share\\evil.exe'],
    ['/tmp/evil', 'selection_path', '/tmp/evil'],
    ['/home/victim/evil', 'selection_path', '/home/*/evil'],
    ['~/.config/evil', 'selection_name', '/.config/evil'],
    ['/Users/victim/Library/evil', 'selection_path', '/Users/*/Library/evil'],
    ['%APPDATA%Realtek\\evil.exe', 'selection_name', '\\AppData\\Roaming\\Realtek\\evil.exe'],
    ['%USERPROFILE%evil.exe', 'selection_name', '\\evil.exe'],
    ['%STARTUP%\\evil.lnk', 'selection_name', '\\Start Menu\\Programs\\Startup\\evil.lnk'],
    ['%SystemDrive%\\Users\\victim\\evil.exe', 'selection_name', ':\\Users\\\\*\\evil.exe'],
    ['\\??\\C:\\Windows\\evil.exe', 'selection_path', 'C:\\Windows\\evil.exe'],
    ['\\\\?\\UNC\\server\\share\\evil.exe', 'selection_path', '\\\\\\\\server\\share\\evil.exe'],
    ['\\SystemRoot\\evil.sys', 'selection_name', ':\\Windows\\evil.sys'],
    ['\\Device\\HarddiskVolume3\\Windows\\evil.exe', 'selection_name', '\\Windows\\evil.exe'],
    ['\\Device\\HarddiskVolume12\\Users\\victim\\evil.exe', 'selection_name', '\\Users\\\\*\\evil.exe'],
    ['\\\\?\\GLOBALROOT\\Device\\HarddiskVolume1\\evil.exe', 'selection_name', '\\evil.exe'],
    ['\\\\?\\Volume{01234567-89ab-cdef-0123-456789abcdef}\\evil.exe', 'selection_name', '\\evil.exe'],
    [
      'C:\\Documents and Settings\\victim\\evil.exe',
      'selection_path',
      'C:\\Documents and Settings\\\\*\\evil.exe',
    ],
    [
      'C:\\Documents and Settings\\All Users\\evil.exe',
      'selection_path',
      'C:\\Documents and Settings\\All Users\\evil.exe',
    ],
    ['C:\\Users\\%USERNAME%\\evil.exe', 'selection_path', 'C:\\Users\\\\*\\evil.exe'],
    ['%E6%96%87%E4%BB%B6.exe', 'selection_name', '\\%E6%96%87%E4%BB%B6.exe'],
    ['100%.exe', 'selection_name', '\\100%.exe'],
    [
      '{01234567-89ab-cdef-0123-456789abcdef}.dll',
      'selection_name',
      '\\{01234567-89ab-cdef-0123-456789abcdef}.dll',
    ],
    ['$HOME/.config/evil', 'selection_name', '/.config/evil'],
    ['${HOME}/.config/evil', 'selection_name', '/.config/evil'],
    ['/home/<user>/evil', 'selection_path', '/home/*/evil'],
  ])('matches the file %s by %s %s', async (value, selection, pattern) => {
    const { file_event } = await detectionOf(exportIndicator(1, 'FILENAME', value));
    const field = selection === 'selection_path' ? 'TargetFilename' : 'TargetFilename|endswith';
    expect(file_event).toEqual({ [selection]: { [field]: pattern }, condition: '1 of selection_*' });
  });

  it.each([
    ['evil.exe', 'windows', '\\evil.exe'],
    ['run.ps1', 'windows', '\\run.ps1'],
    ['run.sh.exe', 'windows', '\\run.sh.exe'],
    ['bin\\run.sh', 'windows', '\\bin\\run.sh'],
    ['%TEMP%/run.sh', 'windows', '\\Temp\\run.sh'],
    ['run.sh', 'linux', '/run.sh'],
    ['./run.sh', 'linux', '/run.sh'],
    ['tmp/run.sh', 'linux', '/tmp/run.sh'],
    ['libevil.so', 'linux', '/libevil.so'],
    ['LIBEVIL.SO.1.2', 'linux', '/LIBEVIL.SO.1.2'],
    ['$HOME/evil', 'linux', '/evil'],
    ['$HOME/Library/evil', 'macos', '/Library/evil'],
    ['libevil.dylib', 'macos', '/libevil.dylib'],
    ['com.example.evil.plist', 'macos', '/com.example.evil.plist'],
  ])('matches the file %s on %s by the suffix %s', async (value, product, pattern) => {
    const rules = await rulesOf([exportIndicator(1, 'FILENAME', value)]);
    expect(rules.map(({ logsource, detection }) => ({ logsource, detection }))).toEqual([
      {
        logsource: { category: 'file_event', product },
        detection: {
          selection_name: { 'TargetFilename|endswith': pattern },
          condition: '1 of selection_*',
        },
      },
    ]);
  });

  it.each([
    ['HKLM\\Software\\Evil\\run', ['HKLM\\Software\\Evil\\run']],
    ['HKLM\\System\\ControlSet001\\Services\\evil', ['HKLM\\System\\CurrentControlSet\\Services\\evil']],
    [
      'HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\Explorer',
      ['HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\Explorer'],
    ],
    ['HKCU\\Software\\Evil', ['HKU\\\\*\\Software\\Evil']],
    ['HKCU\\Software\\Classes\\evil', ['HKU\\\\*_Classes\\evil']],
    ['HKU\\S-1-5-21-1-2-3-1001\\Software\\Evil', ['HKU\\\\*\\Software\\Evil']],
    ['HKU\\S-1-5-21-1-2-3-1001_Classes\\evil', ['HKU\\\\*_Classes\\evil']],
    ['HKU\\.DEFAULT\\Software\\Evil', ['HKU\\.DEFAULT\\Software\\Evil']],
    ['HKCR\\evil', ['HKCR\\evil', 'HKLM\\Software\\Classes\\evil', 'HKU\\\\*_Classes\\evil']],
  ])('matches the registry path %s as Sysmon reports it', async (value, patterns) => {
    const { registry_set } = await detectionOf(exportIndicator(1, 'REGISTRY_KEY', value));
    const [only] = patterns;
    const below = patterns.map((pattern) => `${pattern}\\\\`);
    expect(registry_set).toMatchObject({
      selection_registry_value: { TargetObject: patterns.length === 1 ? only : patterns },
      selection_registry_key: { 'TargetObject|startswith': below.length === 1 ? below[0] : below },
    });
  });

  it.each([
    ['REGISTRY_KEY', 'HKLM'],
    ['REGISTRY_KEY', 'HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Run'],
    ['REGISTRY_KEY', 'HKLM\\Software\\Wow6432Node\\Microsoft\\Windows\\CurrentVersion\\Run'],
    ['REGISTRY_KEY', 'HKLM\\System\\ControlSet001\\Services'],
    ['REGISTRY_KEY', 'HKCR\\CLSID'],
    ['REGISTRY_KEY', 'HKU\\S-1-5-21-1-2-3-1001'],
    ['REGISTRY_KEY', 'HKLM\\SOFTWARE\\ODBC'],
    ['REGISTRY_KEY', 'HKLM\\SOFTWARE\\WOW6432Node\\ODBC'],
    ['REGISTRY_KEY', 'HKLM\\SOFTWARE\\ODBC\\ODBC.INI'],
    ['REGISTRY_KEY', 'HKLM\\Software\\Microsoft\\DRM'],
    ['REGISTRY_KEY', 'HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Ext'],
    ['REGISTRY_KEY', 'HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Control Panel\\CPLs'],
    ['REGISTRY_KEY', 'HKCU\\Software\\Microsoft\\Direct3D'],
    ['FILENAME', 'C:\\ProgramData\\'],
    ['FILENAME', '...'],
    ['FILENAME', '%TEMP%\\vsfilter_%random%.dll'],
    ['FILENAME', '%random%.exe'],
    ['FILENAME', '<random>.exe'],
    ['FILENAME', '[random].exe'],
    ['FILENAME', '/tmp/<random>'],
    ['FILENAME', '/tmp/$RANDOM.sh'],
    ['FILENAME', '\\\\.\\pipe\\<random>'],
    ['FILENAME', '%windir%'],
    ['FILENAME', '%UNKNOWN%'],
    ['FILENAME', '%windir%\\System32'],
    ['FILENAME', '%SystemDrive%'],
    ['FILENAME', 'C:\\Windows'],
    ['FILENAME', 'C:\\Users\\victim\\AppData\\Roaming'],
    ['FILENAME', '\\Device\\HarddiskVolume3'],
    ['FILENAME', '\\Device\\evil'],
    ['FILENAME', '\\\\.\\evil'],
    ['FILENAME', '$HOME'],
    ['FILENAME', '~'],
    ['FILENAME', '/tmp'],
    ['FILENAME', 'C:\\Windows\\*.exe'],
    ['FILENAME', 'evil?.exe'],
    ['FILENAME', 'a"b.exe'],
    ['FILENAME', 'a|b.exe'],
    ['FILENAME', 'a>b.exe'],
  ] as const)('skips and counts the %s %s', async (type, value) => {
    expect(await bundle([exportIndicator(1, type, value)])).toEqual({ documents: [], leftOut: 1 });
    expect(sigmaTail({ indicators: 1, placeholders: 0 })).toMatch(/^# .*: 1 .*\n$/);
  });

  it('derives level, TLP and modification date from the rows', async () => {
    const rows = [
      exportIndicator(1, 'IPV4', '198.51.100.1', { severity: 'CRITICAL' }),
      exportIndicator(2, 'IPV4', '198.51.100.2', {
        severity: 'INFO',
        tlp: 'AMBER_STRICT',
        modifiedAt: new Date('2026-06-01T00:00:00.000Z'),
      }),
    ];
    for (const rule of await rulesOf(rows)) {
      expect(rule).toMatchObject({ level: 'critical', date: '2026-05-21', modified: '2026-06-01' });
      expect(rule.tags).toEqual(expect.arrayContaining(['attack.g0016', 'tlp.amber-strict']));
    }
  });

  it('updates the modification date when rows were removed', async () => {
    const changed = { ...CHANGED, modifiedAt: new Date('2026-07-01T00:00:00.000Z') };
    const [rule] = await rulesOf([exportIndicator(1, 'MD5', 'a'.repeat(32))], { changed });
    expect(rule?.modified).toBe('2026-07-01');
  });

  it('has a modification date only after its creation date', async () => {
    const changed = { createdAt: new Date('2026-08-01T00:00:00.000Z'), modifiedAt: CHANGED.modifiedAt };
    const [rule] = await rulesOf([exportIndicator(1, 'MD5', 'a'.repeat(32))], { changed });
    expect(rule).toHaveProperty('date', '2026-08-01');
    expect(rule).not.toHaveProperty('modified');
  });

  it('keeps rule ids per subject, log source and part', async () => {
    const first = await rulesOf([exportIndicator(1, 'DOMAIN', 'a.example')]);
    const later = await rulesOf([exportIndicator(2, 'DOMAIN', 'b.example')]);
    const other = await rulesOf([exportIndicator(1, 'DOMAIN', 'a.example')], {
      subject: { ...ACTOR, id: 'a1b2c3d4-0000-5000-8000-000000000017' },
    });
    expect(later.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
    expect(other.map(({ id }) => id)).not.toEqual(first.map(({ id }) => id));
  });

  it('splits large rule sets without loss', async () => {
    const names = Array.from({ length: 1234 }, (_, index) => `host${index}.example`);
    const { documents } = await bundle(names.map((name, index) => exportIndicator(index, 'DOMAIN', name)));
    expectSound(documents);
    const found = documents
      .map((text): SigmaRule => parse(text))
      .filter(({ logsource }) => logsource.category === 'dns_query')
      .flatMap(({ detection }) => patternsOf(detection, 'selection_domain'));
    expect(found).toEqual(names);
  });

  it('splits long values by length', async () => {
    const rows = Array.from({ length: 40 }, (_, index) =>
      exportIndicator(index, 'URL', `http://long.example/${index}/${'a'.repeat(8000)}`),
    );
    const { documents } = await bundle(rows);
    expect(documents.length).toBe(7);
    for (const text of documents) expect(text.length).toBeLessThan(101_000);
  });

  it('is identical for any batch size', async () => {
    const rows = expressible([...GOLDEN, ...HOSTILE]);
    expect(await bundle(rows, { batchSize: 1 })).toEqual(await bundle(rows, { batchSize: 1000 }));
  });

  it('contains only comments when there are no rules', () => {
    const head = sigmaHead(
      { ...ACTOR, name: 'a\n- b', attackId: null },
      { ruleCount: 0, minConfidence: 40, leftOut: { MUTEX: 2 } },
    );
    expect(head).toContain('No rules');
    expect(head).toContain('2 MUTEX');
    expect(head).toContain('a confidence below 40 have no rules');
    expect(head).toMatch(/^(?:# .*\n)+$/);
    expect(sigmaTail({ indicators: 0, placeholders: 0 })).toBe('');
    expect(sigmaTail({ indicators: 0, placeholders: 3 })).toMatch(/^# Left out: 3 community rules .*\n$/);
  });

  it('matches an FTP URL only with its scheme', async () => {
    const { proxy = {} } = await detectionOf(exportIndicator(1, 'URL', 'ftp://files.example/x'));
    expect(patternsOf(proxy as Record<string, unknown>, 'selection_url')).toEqual(['ftp://files.example/x']);
  });
});
