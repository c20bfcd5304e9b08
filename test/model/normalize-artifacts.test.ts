import { describe, it } from 'vitest';
import { INDICATOR_TYPES } from '../../src/model/vocabulary.ts';
import { expectRejected, expectValue } from './cases.ts';

describe('REGISTRY_KEY', () => {
  const run = 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Run';
  it.each([
    ['HKLM\\SOFTWARE\\Run', run],
    ['hkey_local_machine\\SOFTWARE\\Run\\', run],
    ['HKLM:\\SOFTWARE\\Run', run],
    ['HKLM\\\\SOFTWARE\\\\Run', run],
    ['HKLM/SOFTWARE/Run', run],
    ['Computer\\HKEY_LOCAL_MACHINE\\SOFTWARE\\Run', run],
    ['Registry::HKLM\\SOFTWARE\\Run', run],
    ['[HKEY_LOCAL_MACHINE\\SOFTWARE\\Run]', run],
    ['"HKLM\\SOFTWARE\\Run"', run],
    ['\\REGISTRY\\MACHINE\\SOFTWARE\\Run', run],
    ['HKLM\\SOFTWARE\\Run\\ \\ ', run],
    ['\\Registry\\User\\S-1-5-18\\x', 'HKEY_USERS\\S-1-5-18\\x'],
    ['HKCU\\Software\\{8761ABBD}', 'HKEY_CURRENT_USER\\Software\\{8761ABBD}'],
    ['HKU\\.DEFAULT', 'HKEY_USERS\\.DEFAULT'],
    ['HKCC\\System', 'HKEY_CURRENT_CONFIG\\System'],
    ['HKCR\\MIME\\text/html', 'HKEY_CLASSES_ROOT\\MIME\\text/html'],
  ])('%j is %s', (raw, value) => expectValue('REGISTRY_KEY', raw, value, value.toLowerCase()));

  it.each([
    'SOFTWARE\\Run',
    'HKXX\\Run',
    'HKLMSOFTWARE\\Run',
    '\\REGISTRY\\A\\x',
    'C:\\Windows',
    'constructor\\x',
  ])('%j is rejected', (raw) => expectRejected('REGISTRY_KEY', raw, 'not a key of a known registry hive'));
});

describe('MUTEX', () => {
  it.each(['Global\\BitStreamSvc', '{8761ABBD-7F85-42EE-B272-A76179687C63}', 'MSO~2', 'a[.]b', '"quoted"'])(
    '%j is kept unchanged',
    (raw) => expectValue('MUTEX', raw, raw),
  );
});

describe('FILENAME', () => {
  it.each([
    ['C:\\ProgramData\\VSDB688.tmp', 'C:\\ProgramData\\VSDB688.tmp'],
    ['"C:\\Program Files\\x.exe"', 'C:\\Program Files\\x.exe'],
    ['/tmp/.X11/Run', '/tmp/.X11/Run'],
    ['[1].DOC', '[1].DOC'],
    ['invoice\u202efdp.exe', 'invoice\u202efdp.exe'],
  ])('%j is %s', (raw, value) => expectValue('FILENAME', raw, value, value.toLowerCase()));

  it.each([
    ['""', 'empty'],
    ['a\u0001b', 'control characters'],
    ['a'.repeat(4097), 'longer than 4096 characters'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('FILENAME', raw, reason));
});

describe('USER_AGENT', () => {
  it('keeps inner spaces and compares case-insensitively', () => {
    expectValue('USER_AGENT', ' Mozilla/4.0  (X) ', 'Mozilla/4.0  (X)', 'mozilla/4.0  (x)');
  });
});

describe.each(INDICATOR_TYPES)('%s, like every type,', (type) => {
  it.each([
    ['', 'empty'],
    [' \t\r\n\ufeff', 'empty'],
    ['a\u0000b', 'control characters'],
    ['a\u0085b', 'control characters'],
    ['a\u2028b', 'control characters'],
    ['a\ud800b', 'malformed Unicode'],
    ['a'.repeat(8193), 'longer than 8192 characters'],
  ])('rejects %j: %s', (raw, reason) => expectRejected(type, raw, reason));
});
