import { closestName } from '../model/closest-name.ts';

const PREFIX = 'TIPLINE_';
/** Variables of this prefix that clients read: they may stand in the same shell. */
const CLIENT_VARIABLES = ['TIPLINE_KEY'];

/**
 * Variables that Kubernetes sets in every pod for a service called `tipline`, or for another whose name begins with
 * `tipline-` (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const INJECTED = /^TIPLINE_(SERVICE_|PORT(_|$)|\w+_SERVICE_(HOST|PORT)|\w+_PORT_\d+_(TCP|UDP|SCTP))/;
/** The one of them that only its value tells from a setting, such as `TIPLINE_DB_PORT=tcp://10.0.0.7:5432`. */
const INJECTED_PORT = /^TIPLINE_\w+_PORT=(tcp|udp|sctp):\/\//;

/**
 * Returns a message for each variable that begins with TIPLINE_ and is no setting: a mistyped name must not be ignored.
 * @param known every name that is read as a setting
 */
export function unknownSettings(
  variables: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): string[] {
  /** By the name without the prefix, which all have in common: `TIPLINE_LOG_LEVEL` means LOG_LEVEL. */
  const candidates = new Map([...known].map((name) => [withoutPrefix(name), name]));
  return Object.entries(variables)
    .filter(([name]) => name.startsWith(PREFIX) && !known.has(name) && !CLIENT_VARIABLES.includes(name))
    .filter(([name, value]) => !INJECTED.test(name) && !INJECTED_PORT.test(`${name}=${value}`))
    .map(([name]) => {
      const closest = candidates.get(closestName(withoutPrefix(name), candidates.keys()) ?? '');
      return `${name} is not a setting${closest ? `; did you mean ${closest}?` : ''}`;
    });
}

const withoutPrefix = (name: string) => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);
