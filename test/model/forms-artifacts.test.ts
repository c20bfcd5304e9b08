import { describe, it } from 'vitest';
import { expectRejected, expectValue } from './cases.ts';

describe('REGISTRY_KEY notations', () => {
  const run = 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Run';
  const below = run.slice('HKEY_LOCAL_MACHINE'.length);
  it.each([
    `HKLM${below}`,
    `hklm${below}`,
    `HKLM:${below}`,
    `HKLM:\\${below}`,
    `HKLM${below}\\`,
    `HKLM${below.replaceAll('\\', '\\\\')}`,
    `HKLM${below.replaceAll('\\', '/')}`,
    `HKEY_LOCAL_MACHINE${below.replaceAll('\\', '/')}/`,
    `Hkey_Local_Machine${below}`,
    `HKEY LOCAL MACHINE${below}`,
    `\\HKEY_LOCAL_MACHINE${below}`,
    `[${run}]`,
    `"${run}"`,
    `'${run}'`,
    `\`${run}\``,
    `Computer\\${run}`,
    `My Computer\\${run}`,
    `Computer/HKEY_LOCAL_MACHINE${below.replaceAll('\\', '/')}`,
    `Registry::${run}`,
    `Registry::HKLM${below}`,
    `Microsoft.PowerShell.Core\\Registry::${run}`,
    `\\REGISTRY\\MACHINE${below}`,
    `\\Registry\\Machine${below}`,
    `REGISTRY\\MACHINE${below}`,
    `  ${run}  `,
  ])('%j is the Run key of HKEY_LOCAL_MACHINE', (raw) =>
    expectValue('REGISTRY_KEY', raw, run, run.toLowerCase()),
  );

  it.each([
    ['HKCU\\Software\\EpicNet Inc.\\CloudNet\\', 'HKEY_CURRENT_USER\\Software\\EpicNet Inc.\\CloudNet'],
    ['HKU\\S-1-5-21-1-2-3-500\\Run', 'HKEY_USERS\\S-1-5-21-1-2-3-500\\Run'],
    ['HKCR\\.zeros\\shell\\open', 'HKEY_CLASSES_ROOT\\.zeros\\shell\\open'],
    ['HKCC\\Software\\Fonts', 'HKEY_CURRENT_CONFIG\\Software\\Fonts'],
    ['\\REGISTRY\\USER\\S-1-5-18\\x', 'HKEY_USERS\\S-1-5-18\\x'],
    ['HKLM\\SOFTWARE\\Wow6432Node\\x', 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Wow6432Node\\x'],
    ['HKLM\\SYSTEM\\ControlSet001\\x', 'HKEY_LOCAL_MACHINE\\SYSTEM\\ControlSet001\\x'],
    ['HKCU\\x\\{E3517E26-8E93}', 'HKEY_CURRENT_USER\\x\\{E3517E26-8E93}'],
    ['HKLM\\x\\evil[.]example', 'HKEY_LOCAL_MACHINE\\x\\evil[.]example'],
    ['HKCR\\MIME\\text/html', 'HKEY_CLASSES_ROOT\\MIME\\text/html'],
    ['HKLM\\x\\%TEMP%', 'HKEY_LOCAL_MACHINE\\x\\%TEMP%'],
  ])('%j is %s', (raw, value) => expectValue('REGISTRY_KEY', raw, value, value.toLowerCase()));

  it.each([
    below.slice(1),
    `HKXX${below}`,
    `HKLM SOFTWARE${below}`,
    'HKLM:SOFTWARE',
    'HKLMx\\SOFTWARE',
    `[-${run}]`,
    `\\\\host\\HKLM${below}`,
    'C:\\Windows\\System32\\config\\SOFTWARE',
    '%HKLM%\\SOFTWARE',
    '\\REGISTRY\\A\\x',
    'HKEY_LOCAL\\x',
    'toString\\x',
  ])('%j is rejected', (raw) => expectRejected('REGISTRY_KEY', raw, 'not a key of a known registry hive'));
});

describe('MUTEX notations', () => {
  it.each([
    'Global\\D3DAdapter_ServiceEvent',
    'Local\\ZonesCacheCounterMutex',
    'Session\\1\\BaseNamedObjects\\x',
    '\\BaseNamedObjects\\Global\\x',
    '\\Sessions\\1\\BaseNamedObjects\\x',
    'global\\BitStreamSvc',
    'GLOBAL\\BitStreamSvc',
    'MSO~4',
    'Mutex_sync',
    'flPGdvyhPykxGvhDOAZnU',
    '{8761ABBD-7F85-42EE-B272-A76179687C63}',
    '[x]',
    '(x)',
    '<x>',
    '"x"',
    "'x'",
    'a[.]b',
    'hxxp://x',
    'a b  c',
    ')!VoqA.I4',
    '%s-%d',
    '!@#$%^&*()',
    'x\u200bx',
    'мьютекс',
    '\u202ex',
    '0',
    'a'.repeat(8192),
  ])('%j is kept unchanged', (raw) => expectValue('MUTEX', raw, raw));

  it('trims surrounding white space', () => expectValue('MUTEX', ' \tGlobal\\x\r\n', 'Global\\x'));

  it.each([
    ['a\u0000b', 'control characters'],
    ['a\nb', 'control characters'],
    ['a\u2029b', 'control characters'],
    ['\udc00', 'malformed Unicode'],
    ['a'.repeat(8193), 'longer than 8192 characters'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('MUTEX', raw, reason));
});

describe('FILENAME notations', () => {
  it.each([
    ['7z920.exe', '7z920.exe'],
    ['Invoice.PDF.exe', 'Invoice.PDF.exe'],
    ['C:\\Windows\\System32\\drivers\\hfile.sys', 'C:\\Windows\\System32\\drivers\\hfile.sys'],
    ['"C:\\Program Files\\x.exe"', 'C:\\Program Files\\x.exe'],
    ['""C:\\x.exe""', 'C:\\x.exe'],
    ['" C:\\x.exe "', 'C:\\x.exe'],
    ['%APPDATA%\\Temp.NET\\archset.dat', '%APPDATA%\\Temp.NET\\archset.dat'],
    ['%ProgramFiles(X86)%\\x.exe', '%ProgramFiles(X86)%\\x.exe'],
    ['$env:TEMP\\x.ps1', '$env:TEMP\\x.ps1'],
    ['${HOME}/.x', '${HOME}/.x'],
    ['~/.bashrc', '~/.bashrc'],
    ['/tmp/.X11-unix/x', '/tmp/.X11-unix/x'],
    ['\\\\192.0.2.7\\share\\x.lnk', '\\\\192.0.2.7\\share\\x.lnk'],
    ['\\\\?\\C:\\x.exe', '\\\\?\\C:\\x.exe'],
    ['C:/Users/x/y.dll', 'C:/Users/x/y.dll'],
    ['x.txt:evil.exe', 'x.txt:evil.exe'],
    ['[1].DOC', '[1].DOC'],
    ['(x)', '(x)'],
    ['{x}', '{x}'],
    ["'x'", "'x'"],
    ['`x`', '`x`'],
    ['x[.]exe', 'x[.]exe'],
    ['hxxp.exe', 'hxxp.exe'],
    ['invoice\u202efdp.exe', 'invoice\u202efdp.exe'],
    ['x\u00a0\u00a0.exe', 'x\u00a0\u00a0.exe'],
    ['ÄÖ.exe', 'ÄÖ.exe'],
    ['a.exe"', 'a.exe"'],
    ['\tx.exe \n', 'x.exe'],
  ])('%j is %s', (raw, value) => expectValue('FILENAME', raw, value, value.toLowerCase()));

  it.each([
    ['""""', 'empty'],
    ['" "', 'empty'],
    ['x\u0000.exe', 'control characters'],
    ['x\r\ny', 'control characters'],
    ['\ud83d.exe', 'malformed Unicode'],
    ['/x'.repeat(2049), 'longer than 4096 characters'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('FILENAME', raw, reason));
});

describe('USER_AGENT notations', () => {
  it.each([
    'Mozilla/5.0 (Windows NT 6.1; Win64; x64; rv:47.0) Gecko/20100101 Firefox/47.0',
    'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)',
    'mozilla/4.0',
    'MOZILLA/4.0',
    'Mozilla',
    'curl/7.88.1',
    'python-requests/2.31.0',
    'Go-http-client/1.1',
    'Mozilla/5.0  (two  spaces)',
    'Mozilla/5.0(no space)',
    '"Mozilla/4.0"',
    "'Mozilla/4.0'",
    '(Mozilla)',
    '[Mozilla]',
    'User-Agent: Mozilla/4.0',
    'hxxp://x',
    'evil[.]example',
    '() { :; }; /bin/bash -c "id"',
    '${jndi:ldap://x/}',
    '%s',
    '_',
    '0',
    '-',
    'Mozilla/5.0 \\r\\n',
    'Мозилла',
    'x\u200bx',
  ])('%j is kept, and compared case-insensitively', (raw) =>
    expectValue('USER_AGENT', raw, raw, raw.toLowerCase()),
  );

  it('trims surrounding white space', () =>
    expectValue('USER_AGENT', '\t Mozilla/4.0 \r\n', 'Mozilla/4.0', 'mozilla/4.0'));

  it.each([
    ['Mozilla\t4.0', 'control characters'],
    ['Mozilla\r\nX: y', 'control characters'],
    ['Mozilla\u007f', 'control characters'],
    ['Mozilla\udfff', 'malformed Unicode'],
    ['   ', 'empty'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('USER_AGENT', raw, reason));
});
