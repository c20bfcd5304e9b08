import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';

// X.509 certificates (RFC 5280), made at each run so that no private key lies in the repository.

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const SUBJECT_ALT_NAME = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';

/** A certificate and its key, both in PEM. */
export interface Identity {
  key: string;
  cert: string;
}

interface Authority extends Identity {
  name: string;
  privateKey: KeyObject;
}

interface Wanted {
  /** Host names and IPv4 addresses; the first one is the subject, too. */
  names: string[];
  from?: Date;
  until?: Date;
  /** Absent: the certificate is self-signed. */
  issuer?: Authority;
  isAuthority?: boolean;
}

/** A self-signed certificate for a name. */
export const selfSigned = (name: string): Identity => identity({ names: [name] });

/** A certificate and its key. */
export function identity(wanted: Wanted): Identity {
  const { key, cert } = authority(wanted);
  return { key, cert };
}

/** The same, which can sign others. */
export function authority(wanted: Wanted): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { names, issuer, isAuthority = false } = wanted;
  const { from = new Date('2020-01-01T00:00:00Z'), until = new Date('2099-12-31T23:59:59Z') } = wanted;
  const [name = ''] = names;
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    distinguished(issuer?.name ?? name),
    sequence(generalizedTime(from), generalizedTime(until)),
    distinguished(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeNames(names), ...(isAuthority ? [basicConstraints()] : []))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, issuer?.privateKey ?? privateKey));
  const base64 = sequence(body, algorithm, signature).toString('base64');
  return {
    name,
    privateKey,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

const distinguished = (name: string) =>
  sequence(der(0x31, sequence(objectId(COMMON_NAME), der(0x0c, Buffer.from(name)))));

const generalizedTime = (at: Date) =>
  der(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]|\..*/g, '')}Z`));

function alternativeNames(names: string[]): Buffer {
  const entries = names.map((name) =>
    isIP(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name)),
  );
  return sequence(objectId(SUBJECT_ALT_NAME), der(0x04, sequence(...entries)));
}

/** Critical, as RFC 5280 §4.2.1.9 requires of authorities. */
const basicConstraints = () =>
  sequence(
    objectId(BASIC_CONSTRAINTS),
    der(0x01, Buffer.from([0xff])),
    der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
  );

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
