import { statSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { blockOf } from '../model/address-ranges.ts';

/** A type of setting, which parses and checks its value. */
export interface Kind<T> {
  /** The allowed values, as they follow "must be". */
  allowed: string;
  /** Whether the value may contain a password: no message repeats it. */
  isSecret?: boolean;
  /** Returns the value; null: the text is not allowed. */
  parse(text: string): T | null;
}

export const anyText: Kind<string> = { allowed: 'a text', parse: (text) => text };

export function wholeNumber(min: number, max: number, unit = 1): Kind<number> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse: (text) =>
      /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) * unit : null,
  };
}

/** A number of megabytes; the value is in bytes. */
export const megabytes = (min: number): Kind<number> => wholeNumber(min, 1_000_000, 1024 * 1024);

export const onOrOff: Kind<boolean> = {
  allowed: 'on or off',
  parse: (text) => (text === 'on' || text === 'off' ? text === 'on' : null),
};

export function oneOf<const T extends string>(words: readonly T[]): Kind<T> {
  return {
    allowed: `one of ${words.join(', ')}`,
    parse: (text) => words.find((word) => word === text) ?? null,
  };
}

/** A secret of a given form, which `allowed` describes as it follows "must be". */
export function secret(form: RegExp, allowed: string): Kind<string> {
  return { allowed, isSecret: true, parse: (text) => (form.test(text) ? text : null) };
}

function forms(protocols: string[]): string {
  return protocols.map((protocol) => `${protocol}//HOST:PORT/…`).join(' or ');
}

export function url(...protocols: string[]): Kind<string> {
  return {
    allowed: `an address, such as ${forms(protocols)}`,
    isSecret: true,
    parse: (text) => (isUrlOf(protocols, text) ? text : null),
  };
}

/** A URL of Redis, whose path is the number of a database or missing. */
export const redisUrl: Kind<string> = {
  allowed: 'redis://HOST:PORT or rediss://HOST:PORT, perhaps with the number of a database: /0',
  isSecret: true,
  parse: (text) =>
    isUrlOf(['redis:', 'rediss:'], text) && /^\/?\d*$/.test(new URL(text).pathname) ? text : null,
};

const POSTGRES = ['postgres:', 'postgresql:'];
const OF_PASSWORD = '@, / and # of a password are written %40, %2F and %23';

/** What follows a slash in a password is read as the path. */
const isPostgresUrl = (text: string) => isUrlOf(POSTGRES, text) && !new URL(text).pathname.includes('@');

export const postgresUrl: Kind<string> = {
  allowed: `an address, such as ${forms(POSTGRES)}; ${OF_PASSWORD}`,
  isSecret: true,
  parse: (text) => (isPostgresUrl(text) ? text : null),
};

/** URLs separated by commas or blanks. Only a separator before a scheme counts: a password may contain commas. */
export const postgresUrls: Kind<string[]> = {
  allowed: `a list of addresses, such as ${forms(POSTGRES)}; ${OF_PASSWORD}`,
  isSecret: true,
  parse: (text) => {
    const list = text === '' ? [] : text.split(/[\s,]+(?=[a-z]+:\/\/)/);
    return list.every(isPostgresUrl) ? list : null;
  },
};

/** TLS authenticates the host: a URL without TLS is allowed for this machine only. */
export const httpsUrl: Kind<string> = {
  allowed: 'an address that begins with https://',
  parse: (text) =>
    isUrlOf(['https:'], text) || /^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(text) ? text : null,
};

export const networks: Kind<string[]> = {
  allowed: 'a list of networks such as 10.0.0.0/8,::1',
  parse: (text) => {
    const list = text.split(/[\s,]+/).filter(Boolean);
    return list.every(isNetwork) ? list : null;
  },
};

export const directory: Kind<string> = {
  allowed: 'a directory that exists',
  parse: (text) => (statSync(text, { throwIfNoEntry: false })?.isDirectory() ? text : null),
};

function isUrlOf(protocols: string[], text: string): boolean {
  return protocols.some((protocol) => text.startsWith(`${protocol}//`)) && isUrl(text);
}

/** URL.canParse sometimes returns a wrong result in Node 20. */
function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}

const PREFIX = /^(0|[1-9]\d{0,2})$/;

/**
 * Returns whether a configured text is an address or a network: four decimal parts or IPv6, without a zone.
 * `ipaddr.js` alone also accepts `10.1` (10.0.0.1), octal and hexadecimal parts.
 */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  if (more.length > 0 || (prefix !== undefined && !PREFIX.test(prefix))) return false;
  const isIpv4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isIpv4 && !(ipaddr.IPv6.isValid(address) && !address.includes('%'))) return false;
  return Number(prefix ?? 0) <= (isIpv4 ? 32 : 128);
}

/**
 * Returns why a text is no network to allow: `10.0.0.1/8` may stand for one address or for 16 million. null: it is one, or
 * an address.
 */
export function networkProblem(text: string): string | null {
  if (!isNetwork(text)) return `"${text}" is neither a network nor an address`;
  const block = blockOf(text);
  if (block === null) return null;
  return `${text} has host bits: write ${block}, or ${text.split('/')[0]} for the one address`;
}
