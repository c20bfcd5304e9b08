import { statSync } from 'node:fs';
import { isNetwork } from '../model/network-text.ts';

/** What a setting may hold. */
export interface Kind<T> {
  /** What is allowed, as it follows "must be". */
  allowed: string;
  /** The value may hold a password: no message repeats it. */
  isSecret?: boolean;
  /** @returns null where the text is not allowed */
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

/** Read as bytes. */
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

/** @param allowed the form, as it follows "must be" */
export function secret(form: RegExp, allowed: string): Kind<string> {
  return { allowed, isSecret: true, parse: (text) => (form.test(text) ? text : null) };
}

export function url(...protocols: string[]): Kind<string> {
  return {
    allowed: `an address, such as ${forms(protocols)}`,
    isSecret: true,
    parse: (text) => (isUrlOf(protocols, text) ? text : null),
  };
}

/** Separated by commas or blanks; a comma in a password separates nothing. */
export function urls(...protocols: string[]): Kind<string[]> {
  return {
    allowed: `a list of addresses, such as ${forms(protocols)}`,
    isSecret: true,
    parse: (text) => {
      const list = text === '' ? [] : text.split(/[\s,]+(?=[a-z]+:\/\/)/);
      return list.every((one) => isUrlOf(protocols, one)) ? list : null;
    },
  };
}

/** TLS vouches for the host: without it only on this machine. */
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

const forms = (protocols: string[]) => protocols.map((protocol) => `${protocol}//HOST:PORT/…`).join(' or ');

function isUrlOf(protocols: string[], text: string): boolean {
  return protocols.some((protocol) => text.startsWith(`${protocol}//`)) && isUrl(text);
}

/** Not by URL.canParse, which is wrong at times in Node 20. */
function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}
