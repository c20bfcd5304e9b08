import { createHash } from 'node:crypto';
import type { ExportIndicator } from '../../src/formats/format.ts';
import { ruleRequest } from '../../src/formats/rules/rule-text.ts';
import { isPublicSuffix } from '../../src/formats/url-parts.ts';
import { blockOf, groupSid, sidOf } from '../../src/model/identity.ts';
import { readNamePart } from '../../src/model/name-parts.ts';
import {
  clientHello,
  connectionAttempt,
  dnsQuery,
  type Endpoints,
  HTTP_ANSWER,
  httpRequest,
  serverCertificate,
  tcpConnection,
  udpDatagram,
  withLength,
} from './pcap.ts';

/** Traffic, and the rule that must fire on it, or must not. */
export interface Attempt {
  what: string;
  sid: number;
  fires: boolean;
  server: string;
  serverPort: number;
  /** Of the client on the left or, where it is reversed, on the right. */
  frames(ends: Endpoints): Buffer[];
}

const RESOLVER = '192.168.1.1';
const SERVER = '203.0.113.80';
const LONGEST_LABEL = 63;
const LONGEST_NAME = 253;

/** Of stock home networks where they have any, which is for IPv4. */
export const clientOf = (server: string) => (server.includes(':') ? '2001:db8:ffff::5' : '192.168.1.5');

/**
 * What an indicator's rules must see, and what they must not take for it.
 * @param hasExceptions whether rules of a domain with whitelisted names below match the others below
 */
export function attemptsOf(
  row: ExportIndicator,
  isListed: (address: string) => boolean,
  hasExceptions = false,
): Attempt[] {
  if (row.type === 'IPV4' || row.type === 'IPV6') return addressAttempts(row, isListed);
  if (row.type === 'DOMAIN') return domainAttempts(row, hasExceptions);
  if (row.type === 'URL') return urlAttempts(row);
  if (row.ofCertificate) return certificateAttempts(row);
  return row.type === 'USER_AGENT' ? userAgentAttempts(row) : [];
}

function addressAttempts(row: ExportIndicator, isListed: (address: string) => boolean): Attempt[] {
  const sid = groupSid(blockOf(row.number), row.type === 'IPV4' ? 'IPV4' : 'IPV6');
  const to = (server: string, fires: boolean): Attempt => {
    const frames = (ends: Endpoints) => tcpConnection(ends, Buffer.from('hello'));
    return { what: `TCP to ${server}`, sid, fires, server, serverPort: 4444, frames };
  };
  const listed = to(row.value, true);
  const from = {
    ...listed,
    what: `UDP from ${row.value}`,
    frames: (ends: Endpoints) => udpDatagram(reversed(ends), Buffer.from('x')),
  };
  const unanswered = [{ times: 1 }, { times: 3 }, { isRefused: true }].flatMap((how) => [
    { ...listed, what: `SYN to ${row.value}`, frames: (ends: Endpoints) => connectionAttempt(ends, how) },
    {
      ...listed,
      what: `SYN from ${row.value}`,
      frames: (ends: Endpoints) => connectionAttempt(reversed(ends), how),
    },
  ]);
  const next = neighbour(row.value);
  return [listed, from, ...unanswered, ...(isListed(next) ? [] : [to(next, false)])];
}

function reversed({ client, clientPort, server, serverPort }: Endpoints): Endpoints {
  return { client: server, clientPort: serverPort, server: client, serverPort: clientPort };
}

/** With another last part. */
function neighbour(address: string): string {
  if (address.includes(':'))
    return address.endsWith('7') ? `${address.slice(0, -1)}8` : `${address.slice(0, -1)}7`;
  const end = address.lastIndexOf('.') + 1;
  return `${address.slice(0, end)}${(Number(address.slice(end)) + 1) % 256}`;
}

function domainAttempts(
  { value, number, whitelistedParts }: ExportIndicator,
  hasExceptions: boolean,
): Attempt[] {
  const [first = ''] = value.split('.');
  const under = value.length + 4 > LONGEST_NAME ? [] : [`www.${value}`];
  const isShared = isPublicSuffix(value) || (whitelistedParts.length > 0 && !hasExceptions);
  const excepted = whitelistedParts.map((part) => readNamePart(part).name);
  const names = [value, value.toUpperCase(), ...(isShared ? [] : under)];
  const longer = first.length + 3 > LONGEST_LABEL || value.length + 3 > LONGEST_NAME ? [] : [`not${value}`];
  const others = [
    // One more, `a.`, moves the name by as much as TCP does.
    ...(isShared ? [...under, `a.${value}`] : []),
    ...excepted.flatMap((name) => [name, `www.${name}`]),
    ...longer,
    `${value.slice(1)}`.replace(/^[.-]+/, 'x'),
    `${value}.test`,
    `${value}x`,
  ].filter((name) => name.length <= LONGEST_NAME);
  const each = (fires: boolean) => (name: string) => [
    dns(name, sidOf(number, 0), fires),
    tls(name, sidOf(number, 1), fires),
    http(name, '/', sidOf(number, 2), fires),
    http(`${name}:8080`, '/', sidOf(number, 2), fires),
    http(`${name}.`, '/', sidOf(number, 2), fires),
    http(`${name}.:8080`, '/', sidOf(number, 2), fires),
  ];
  const overTcp = {
    ...dns(value, sidOf(number, 0), true),
    frames: (ends: Endpoints) => tcpConnection(ends, withLength(dnsQuery(value))),
  };
  return [overTcp, ...names.flatMap(each(true)), ...others.flatMap(each(false))];
}

function urlAttempts({ value, number }: ExportIndicator): Attempt[] {
  const request = ruleRequest(value);
  if (request === null) return [];
  const { host: name, port, target, isNormal } = request;
  const host = port === null ? name : `${name}:${port}`;
  const sid = sidOf(number, 0);
  const isShort = target.length < 1500;
  const toProxy =
    isNormal && isShort && port === null ? [http(host, `http://${host}${target}`, sid, true)] : [];
  const isName = !name.startsWith('[');
  const withEnd = (end: string) => `${name}${end}${host.slice(name.length)}`;
  const misses: [string, string][] = [
    [host, `${target}x`],
    [host, `/x${target}`],
    [host, '/other'],
    [`www.${host}`, target],
    [`x${host}`, target],
    ...(isName ? ['x', '.x', '..'] : []).map((end): [string, string] => [withEnd(end), target]),
    ['benign.test', target],
    ...(port === null ? [] : [name, `${name}:1${port}`, `${name}:${port}1`]).map(
      (other): [string, string] => [other, target],
    ),
  ];
  return [
    http(host, target, sid, true),
    http(host.toUpperCase(), target, sid, true),
    // A client sends the dot at the end of a name as it got it.
    ...(isName ? [http(withEnd('.'), target, sid, true)] : []),
    // The server may be on any port, of which the URL says nothing.
    ...(port !== null ? [] : [http(`${host}:8000`, target, sid, true)]),
    ...toProxy,
    ...misses
      .filter(([, other]) => other !== target || target !== '/other')
      .map(([h, t]) => http(h, t, sid, false)),
  ];
}

function userAgentAttempts({ value, number }: ExportIndicator): Attempt[] {
  const sid = sidOf(number, 0);
  return [
    http('benign.test', '/', sid, true, value),
    http('benign.test', '/', sid, false, `${value}x`),
    http('benign.test', '/', sid, false, `x${value}`),
  ];
}

/** A certificate for evil.example, which is the one of SHA1_OF_CERTIFICATE. */
const CERTIFICATE = Buffer.from(
  'MIIBhTCCASugAwIBAgIUbKRfi6cr0aSFV34cmXRrbMgIWQ4wCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMZXZpbC5leGFtcGxlMCAXDTI2MTEyNTIwMDAxNVoYDzIxMjYxMTAxMjAwMDE1WjAXMRUwEwYDVQQDDAxldmlsLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARX12Bnd4MD6y86DKgHgTR948TAQZPMC37n8DZw93o/hCj51CvnDrCTNr9K9QEjxM40AFAw049RmPvsYLxlGfnXo1MwUTAdBgNVHQ4EFgQUwJ9hOEsbjdd+4q4WD4Pb9RnmWsIwHwYDVR0jBBgwFoAUwJ9hOEsbjdd+4q4WD4Pb9RnmWsIwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiA+ogXA/zSQzYdc+dNrDZyOPVEZ2+prbOA35zNjM3seYQIhAJS/BsaNdNn1k5go07NwdYf74Vig9pcxAuxxpI6JSadl',
  'base64',
);
export const SHA1_OF_CERTIFICATE = createHash('sha1').update(CERTIFICATE).digest('hex');

function certificateAttempts({ value, number }: ExportIndicator): Attempt[] {
  const answer = Buffer.concat([serverCertificate(CERTIFICATE), Buffer.from('15030300020228', 'hex')]);
  return [SHA1_OF_CERTIFICATE, 'another'].map((sha1) => ({
    what: `certificate ${sha1}`,
    sid: sidOf(number, 0),
    fires: sha1 === value,
    server: SERVER,
    serverPort: 443,
    frames: (ends: Endpoints) =>
      tcpConnection(
        ends,
        clientHello('benign.test'),
        sha1 === value ? answer : Buffer.from('15030300020228', 'hex'),
      ),
  }));
}

function dns(name: string, sid: number, fires: boolean): Attempt {
  const frames = (ends: Endpoints) => udpDatagram(ends, dnsQuery(name));
  return { what: `DNS ${name}`, sid, fires, server: RESOLVER, serverPort: 53, frames };
}

function tls(name: string, sid: number, fires: boolean): Attempt {
  const frames = (ends: Endpoints) =>
    tcpConnection(ends, clientHello(name), Buffer.from('15030300020228', 'hex'));
  return { what: `TLS ${name}`, sid, fires, server: SERVER, serverPort: 443, frames };
}

function http(host: string, target: string, sid: number, fires: boolean, userAgent?: string): Attempt {
  const frames = (ends: Endpoints) => tcpConnection(ends, httpRequest(host, target, userAgent), HTTP_ANSWER);
  const what = `HTTP ${host} ${target} ${userAgent ?? ''}`;
  return { what, sid, fires, server: SERVER, serverPort: 8000, frames };
}
