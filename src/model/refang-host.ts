const NEEDS_WORK = /[\\[\](){} ]/;
const DOT = /\\{1,2}\.|[[({]\.|\.[\])}]| {1,2}dot {1,2}/gi;
// `[::]` with nothing on either side is an address in brackets.
const COLONS = /(?<=[0-9a-f])\[::\]|\[::\](?=[0-9a-f])/gi;

const JOINER = /[\u200c-\u200d]/g;

/**
 * Undoes defanging that is safe to undo only in a host, because no host contains a bracket, a backslash or a
 * space: `evil\.com`, `evil[.com`, `evil.]com`, `evil dot com`, `2001:db8[::]1`.
 */
export function refangHost(host: string): string {
  return NEEDS_WORK.test(host) ? host.replace(DOT, '.').replace(COLONS, '::') : host;
}

/** Removes the joiners that `refang` leaves between letters of scripts which may need them. */
export function withoutJoiners(text: string): string {
  return text.replace(JOINER, '');
}
