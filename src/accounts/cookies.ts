import { parseCookie, stringifySetCookie } from 'cookie';

/** The cookies of the application, each with its lifetime in seconds. */
const COOKIES = {
  session: { maxAge: 7 * 86_400, sameSite: 'strict' },
  /** Exists between the password and the second factor. */
  two_factor: { maxAge: 600, sameSite: 'strict' },
  /**
   * Exists while the browser is at the OpenID provider. The redirect back is cross-site, and browsers send no strict
   * cookie with it.
   */
  oidc: { maxAge: 600, sameSite: 'lax' },
} as const;

type CookieName = keyof typeof COOKIES;

/** The cookies of one request, and those to set with its response. */
interface Cookies {
  read(name: CookieName): string | undefined;
  set(name: CookieName, value: string): void;
  clear(name: CookieName): void;
}

/** The client of a request. */
export interface Client {
  address: string;
  userAgent: string;
  cookies: Cookies;
}

export const cookieLifetimeMs = (name: CookieName): number => COOKIES[name].maxAge * 1000;

/**
 * @param header the Cookie header of the request
 * @param isSecure whether the browser uses TLS. Names then begin with `__Host-`, which keeps other hosts of the
 *   domain from setting them (RFC 6265bis §4.1.3.2).
 * @param send called with each Set-Cookie header
 */
export function openCookies(
  header: string | undefined,
  isSecure: boolean,
  send: (setCookie: string) => void,
): Cookies {
  const nameOf = (name: CookieName) => `${isSecure ? '__Host-' : ''}tipline.${name}`;
  const write = (name: CookieName, value: string, maxAge: number) =>
    send(
      stringifySetCookie(nameOf(name), value, {
        path: '/',
        httpOnly: true,
        secure: isSecure,
        sameSite: COOKIES[name].sameSite,
        maxAge,
      }),
    );
  return {
    read: (name) => (header === undefined ? undefined : parseCookie(header)[nameOf(name)]),
    set: (name, value) => write(name, value, COOKIES[name].maxAge),
    clear: (name) => write(name, '', 0),
  };
}
