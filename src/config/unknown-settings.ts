import { closestName } from '../model/closest-name.ts';

const PREFIX = 'TIPLINE_';
/** Variables with this prefix that clients read; they may be set in the same shell. */
const CLIENT_VARIABLES = ['TIPLINE_KEY'];

/**
 * Variables that Kubernetes sets in every pod for a service named `tipline`, or for one whose name begins with
 * `tipline-` (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const INJECTED = /^TIPLINE_(SERVICE_|PORT(_|$)|\w+_SERVICE_(HOST|PORT)|\w+_PORT_\d+_(TCP|UDP|SCTP))/;
/** An injected variable that only its value tells from a setting, as in `TIPLINE_DB_PORT=tcp://10.0.0.7:5432`. */
const INJECTED_PORT = /^TIPLINE_\w+_PORT=(tcp|udp|sctp):\/\//;

/**
 * Returns a message for each variable that begins with TIPLINE_ and is no setting: a mistyped name must not be
 * ignored silently.
 * @param known the names of all settings
 */
export function unknownSettings(
  variables: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): string[] {
  /** By name without prefix: a common prefix makes all names similar. `TIPLINE_LOG_LEVEL` means LOG_LEVEL. */
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
