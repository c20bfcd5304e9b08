import { expect, it } from 'vitest';
import { defang } from '../../src/model/refang.ts';

it.each([
  ['IPV4', '1.2.3.4', '1[.]2[.]3[.]4'],
  ['IPV6', '2001:db8::1', '2001[:]db8[:][:]1'],
  ['DOMAIN', 'www.evil.example', 'www[.]evil[.]example'],
  ['EMAIL', 'a.b@c.example', 'a.b[@]c[.]example'],
  ['URL', 'https://evil.example/x.php', 'hxxps://evil[.]example/x.php'],
  ['URL', 'http://user:p.w@evil.example:8080/', 'hxxp://user:p.w@evil[.]example:8080/'],
  ['URL', 'http://evil.example/a@b.c', 'hxxp://evil[.]example/a@b.c'],
  ['URL', 'http://1.2.3.4/', 'hxxp://1[.]2[.]3[.]4/'],
  ['URL', 'http://[2001:db8::1]:80/', 'hxxp://[2001[:]db8[:][:]1]:80/'],
  ['URL', 'ftp://evil.example/', 'fxp://evil[.]example/'],
  ['URL', 'wss://evil.example/', 'wss://evil[.]example/'],
  ['MD5', 'd41d8cd98f00b204e9800998ecf8427e', 'd41d8cd98f00b204e9800998ecf8427e'],
  ['FILENAME', 'a.exe', 'a.exe'],
  ['REGISTRY_KEY', 'HKEY_USERS\\a.b', 'HKEY_USERS\\a.b'],
] as const)('%s %s is defanged as %s', (type, value, shown) => expect(defang(type, value)).toBe(shown));
