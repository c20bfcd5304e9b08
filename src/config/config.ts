import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { systemReason } from '../model/system-error.ts';
import { closestName } from '../model/text.ts';
import { type Config, SETTINGS, type Setting } from './settings.ts';

/** Thrown for invalid settings. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * Returns the settings from the environment and from `.env` in the working directory. The environment takes
 * precedence.
 * @param serving whether to require the settings that only a server or a worker needs
 * @throws {ConfigError} listing every invalid setting and the allowed values
 */
export function readConfig({ serving = false, env = process.env, envFile = '.env' } = {}): Config {
  const variables = { ...readEnvFile(envFile), ...env };
  const problems: string[] = [];
  const read = ({ name, kind, default: fallback }: Setting): unknown => {
    const text = variables[name]?.trim() || fallback;
    if (text === undefined) return undefined;
    const value = kind.parse(text);
    if (value === null)
      problems.push(`${name} must be ${kind.allowed}${kind.isSecret ? '' : `; it is "${text}"`}`);
    return value ?? undefined;
  };
  const entries = Object.entries(SETTINGS).map(([key, setting]) => [key, read(setting)]);
  // Each value has the type of its setting, unless there is a problem.
  const config = Object.fromEntries(entries) as Config;
  problems.push(...missingSettings(config, (name) => Boolean(variables[name]?.trim()), serving));
  problems.push(...unknownSettings(variables, new Set(Object.values(SETTINGS).map(({ name }) => name))));
  if (problems.length > 0) throw new ConfigError(`The configuration is wrong:\n  ${problems.join('\n  ')}`);
  return config;
}

/**
 * Returns the variables of an environment file; none if there is no such file.
 * @throws {ConfigError} when it cannot be read, or is not text in UTF-8
 */
function readEnvFile(path: string): NodeJS.Dict<string> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ConfigError(`${path} cannot be read: ${systemReason(error) ?? (error as Error).message}.`);
  }
  // UTF-16, in which PowerShell writes the output of a command.
  if (text.includes('\0')) throw new ConfigError(`${path} cannot be read: it must be text in UTF-8.`);
  // Editors on Windows begin a file with a byte-order mark, which would belong to the first name.
  return parseEnv(text.replace(/^\uFEFF/, ''));
}

/**
 * Returns a message for each missing setting that another one requires.
 * @param isSet also true for an invalid value, which is reported as invalid, but not as missing
 */
function missingSettings(config: Config, isSet: (name: string) => boolean, serving: boolean): string[] {
  const rules: { of: string; when: boolean; needs: string[] }[] = [
    {
      of: 'OIDC_CLIENT_ID or OIDC_CLIENT_SECRET is',
      when: isSet('OIDC_CLIENT_ID') || isSet('OIDC_CLIENT_SECRET'),
      needs: ['OIDC_ISSUER'],
    },
    {
      of: 'OIDC_ISSUER is',
      when: isSet('OIDC_ISSUER'),
      needs: ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'TIPLINE_PUBLIC_ADDRESS'],
    },
    { of: 'TIPLINE_TLS_KEY is', when: isSet('TIPLINE_TLS_KEY'), needs: ['TIPLINE_TLS_CERT'] },
    { of: 'TIPLINE_TLS_CERT is', when: isSet('TIPLINE_TLS_CERT'), needs: ['TIPLINE_TLS_KEY'] },
    { of: 'TIPLINE_TLS_PASSPHRASE is', when: isSet('TIPLINE_TLS_PASSPHRASE'), needs: ['TIPLINE_TLS_KEY'] },
    { of: 'REDIRECT_PORT is', when: isSet('REDIRECT_PORT'), needs: ['TIPLINE_TLS_CERT'] },
    { of: 'TIPLINE_HSTS_DAYS is above 0', when: config.hstsDays > 0, needs: ['TIPLINE_TLS_CERT'] },
    { of: 'DATABASE_REPLICA_URLS is', when: isSet('DATABASE_REPLICA_URLS'), needs: ['DATABASE_URL'] },
    {
      of: 'TIPLINE_PROCESSES is more than 1',
      when: config.processes > 1,
      needs: ['DATABASE_URL', 'REDIS_URL'],
    },
    { of: 'DATABASE_URL is', when: serving && isSet('DATABASE_URL'), needs: ['TIPLINE_SECRET'] },
  ];
  return rules
    .filter(({ when, needs }) => when && !needs.every(isSet))
    .map(({ of, needs }) => `${listed(needs)} must be set when ${of}`);
}

const listed = (names: string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

export interface OidcConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
  publicAddress: string;
  trustEmail: boolean;
}

/** The files of TLS. */
export interface TlsFiles {
  /** The certificate and those of its authorities, in PEM. */
  certificate: string;
  /** Its private key, in PEM. */
  key: string;
  /** undefined: the key is not encrypted. */
  passphrase: string | undefined;
}

/** Returns the files of TLS; null: the server serves plain HTTP. */
export function tlsFiles({
  tlsCertificate: certificate,
  tlsKey: key,
  tlsPassphrase: passphrase,
}: Pick<Config, 'tlsCertificate' | 'tlsKey' | 'tlsPassphrase'>): TlsFiles | null {
  return certificate && key ? { certificate, key, passphrase } : null;
}

/** Returns the address of the application for users, without a slash at its end; null: not configured. */
export function publicAddressOf({ publicAddress }: Pick<Config, 'publicAddress'>): string | null {
  return publicAddress?.replace(/\/+$/, '') || null;
}

/** Returns the widest networks that imports accept, by type. */
export function widestOf({ widestIpv4, widestIpv6 }: Pick<Config, 'widestIpv4' | 'widestIpv6'>) {
  return { IPV4: widestIpv4, IPV6: widestIpv6 };
}

/** Returns the settings of the OpenID provider; null: none is configured. */
export function oidcConfig(config: Config): OidcConfig | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config;
  const publicAddress = publicAddressOf(config);
  if (!issuer || !clientId || !clientSecret || !publicAddress) return null;
  return {
    issuer,
    clientId,
    clientSecret,
    publicAddress,
    name: config.oidcName,
    trustEmail: config.oidcTrustEmail,
  };
}

/** Sets the variables of OpenTelemetry that stand in `.env` for its SDK, which reads the environment only. */
export function exposeOtelVariables(envFile = '.env'): void {
  for (const [name, value] of Object.entries(readEnvFile(envFile)))
    if (name.startsWith('OTEL_')) process.env[name] ??= value;
}

const PREFIX = 'TIPLINE_';
/** Variables with this prefix that clients read; they may be set in the same shell. */
const CLIENT_VARIABLES = ['TIPLINE_KEY', 'TIPLINE_SERVER', 'TIPLINE_NETRC'];

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
function unknownSettings(
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

const settings: Setting[] = Object.values(SETTINGS);

const defaultOf = ({ default: text, without = 'none' }: Setting) => text || without;

/** Returns the name, meaning and default of each setting as plain text. */
export function settingsHelp(): { name: string; meaning: string }[] {
  return settings.map((setting) => ({
    name: setting.name,
    meaning: `${setting.meaning.replaceAll('`', '')} (${defaultOf(setting)})`,
  }));
}
