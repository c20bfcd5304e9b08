import { DAY, judged, memberOf, type Provider, textOf, unexpected } from './provider.ts';

/** The lists change daily, but lines are seldom removed. */
const LIFETIME = 7 * DAY;

/** Scores by the path of the list, which states what its lines are; `mass_scanner_cidr.txt` is included. */
const FOLDER_SCORES: readonly [string, number][] = [
  // Added by a person, with a reference; but the host may have changed hands since: below certainty.
  ['trails/static/malware/', 80],
  // Services that are often, but not only, abused: dynamic DNS, tunnels, parking.
  ['trails/static/suspicious/', 40],
  // Most of them scan for research, yet Maltrail intends the list for blocking: the lowest score that is not
  // harmless.
  ['trails/static/mass_scanner', 30],
];

/**
 * A look-up in the trails of Maltrail (https://github.com/stamparm/maltrail, `trails/static/`), which has no
 * API of its own: `{trail, file, reference}`, the line that names the value, as written in the list; the
 * list's path in the repository; and the `# Reference:` lines above it. `{trail: null}`: no list names the
 * value, which is no judgement. A list at another path than those above is an error, not a guess.
 */
export const maltrail: Provider = {
  name: 'maltrail',
  accepts: ['IPV4', 'IPV6', 'DOMAIN', 'URL'],
  assess(raw) {
    const trail = memberOf(raw, 'trail');
    if (trail === null) return judged(null, LIFETIME);
    const file = textOf(memberOf(raw, 'file'));
    if (textOf(trail) === null || file === null) return unexpected();
    const score = FOLDER_SCORES.find(([folder]) => file.startsWith(folder))?.[1];
    return score === undefined ? unexpected() : judged(score, LIFETIME);
  },
};
