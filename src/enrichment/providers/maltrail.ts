import { memberOf, textOf } from './json.ts';
import { DAY, judged, type Provider, unexpected } from './provider.ts';

/** The lists change daily, but a line once in them seldom goes. */
const LIFETIME = 7 * DAY;

/** By the place of the list, whose path says what its lines are; `mass_scanner_cidr.txt` counts as well. */
const FOLDER_SCORES: readonly [string, number][] = [
  // A person put it there, with a reference; but it may have changed hands since: below certainty.
  ['trails/static/malware/', 80],
  // Services that are often abused, not only: dynamic DNS, tunnels, parking.
  ['trails/static/suspicious/', 40],
  // Most scan for research, yet Maltrail means the list for blocking: the lowest that is not harmless.
  ['trails/static/mass_scanner', 30],
];

/**
 * A look-up in the trails of Maltrail (https://github.com/stamparm/maltrail, `trails/static/`), which have no
 * API of their own: `{trail, file, reference}`, the line that names the value, as it stands in the list; the
 * list's path in the repository; and the `# Reference:` lines over it. `{trail: null}`: no list names the
 * value, which is no judgement. A list in another place than those above is an error, not a guess.
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
