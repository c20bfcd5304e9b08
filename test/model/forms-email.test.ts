import { describe, it } from 'vitest';
import { expectRejected, expectValue } from './cases.ts';

describe('EMAIL notations', () => {
  it.each([
    'bob[@]evil[.]example',
    'bob[at]evil[dot]example',
    'bob(at)evil(dot)example',
    'bob{at}evil{dot}example',
    'bob<at>evil<dot>example',
    'bob (AT) evil (DOT) example',
    'bob at evil dot example',
    'bob@evil\\.example',
    'bob\\[@\\]evil\\[.\\]example',
    'bob@evil[.example',
    'bob@evil dot example',
    'bob＠evil.example',
    'bob @ evil.example',
    'bob@EVIL.example',
    'bob@evil.example.',
    '<bob@evil.example>',
    'Bob <bob@evil.example>',
    '"Smith, Bob" <bob@evil.example>',
    '"bob@good.example" <bob@evil.example>',
    'bob@good.example <bob@evil.example>',
    '=?UTF-8?B?Qm9i?= <bob@evil.example>',
    'Bob (sales) <bob@evil[.]example>',
    '<bob@evil.example> (Bob)',
    'bob@evil.example (Bob Smith)',
    '(Bob Smith) bob@evil.example',
    'bob(work)@evil.example',
    'bob@(work)evil.example',
    '"bob"@evil.example',
    'mailto:bob@evil.example',
    'MAILTO:bob@evil.example?cc=a@b.example',
    'mailto://bob@evil.example',
    'Bob <mailto:bob@evil.example>',
    "'bob@evil.example'",
    'bob@ev\u00adil.example\u200b',
  ])('%j is bob@evil.example', (raw) => expectValue('EMAIL', raw, 'bob@evil.example'));

  it.each([
    ['Bob.O’Neil@evil.example', 'Bob.O’Neil@evil.example', 'bob.o’neil@evil.example'],
    ['bob+tag@evil.example', 'bob+tag@evil.example', 'bob+tag@evil.example'],
    [
      'SRS0=ab=cd=x.example=bob@evil.example',
      'SRS0=ab=cd=x.example=bob@evil.example',
      'srs0=ab=cd=x.example=bob@evil.example',
    ],
    ['bob@bücher.example', 'bob@xn--bcher-kva.example', 'bob@xn--bcher-kva.example'],
    ['用户@evil.example', '用户@evil.example', '用户@evil.example'],
  ])('%j is %s', (raw, value, normalized) => expectValue('EMAIL', raw, value, normalized));

  it.each([
    ['a@evil.example, b@evil.example', 'more than one e-mail address'],
    ['a@evil.example; b@evil.example', 'more than one e-mail address'],
    ['A <a@evil.example>, B <b@evil.example>', 'more than one e-mail address'],
    ['"bob smith"@evil.example', 'a quoted local part'],
    ['"a@b"@evil.example', 'a quoted local part'],
    ['*@evil.example', 'a wildcard, not an e-mail address'],
    ['bob@[192.0.2.7]', 'not an e-mail address'],
    ['bob@[IPv6:2001:db8::7]', 'not an e-mail address'],
    ['bob@192[.]0[.]2[.]7', 'not an e-mail address'],
    ['bob.@evil.example', 'not an e-mail address'],
    ['Bob bob@evil.example', 'not an e-mail address'],
    ['bob@*.evil.example', 'not an e-mail address'],
    ['smtp:bob@evil.example', 'not an e-mail address'],
    ['evil.example', 'not an e-mail address'],
    ['@evil.example', 'not an e-mail address'],
    ['bob@evil.example/x', 'not an e-mail address'],
    ['Bob <>', 'not an e-mail address'],
  ])('%j is rejected: %s', (raw, reason) => expectRejected('EMAIL', raw, reason));
});
