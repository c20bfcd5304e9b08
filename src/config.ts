import { existsSync, readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { isNetwork } from './model/network-text.ts';
import { unknownSettings } from './model/setting-names.ts';

export interface Config {
  host: string;
  port: number;
  /** Where `tipline worker` serves its health and metrics, on `host`; null: nowhere. */
  workerPort: number | null;
  dataDirectory: string;
  databaseUrl: string | undefined;
  /** Streaming replicas of it, which carry reads. */
  databaseReplicaUrls: string[];
  redisUrl: string | undefined;
  /** Signs and encrypts; undefined: generated beside the embedded store. */
  secret: string | undefined;
  rateLimit: { limit: number; windowSeconds: number };
  /** Networks whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  /** Opens /metrics; undefined: nothing does. */
  metricsToken: string | undefined;
  logLevel: string;
  /** Of the exports that are kept on disk, in bytes. */
  spoolBytes: number;
  /** Of the data directory's disk, that the embedded store leaves free, in bytes. */
  diskReserveBytes: number;
  /** A checkout of community Sigma rules. */
  sigmaRules: string | undefined;
  /** Networks that feeds and providers may be in although they are not public. */
  outboundNetworks: string[];
  /** Of all that one run of a source fetches, in bytes. */
  feedBytes: number;
  /** Of a file that is imported in the application, in bytes. */
  uploadBytes: number;
  /** Who signs people in beside their passwords; null: nobody. */
  oidc: OidcConfig | null;
  /** From SIGTERM to the end of listening; the server answers, and is not ready. */
  shutdownDelaySeconds: number;
  /** Processes of a server, all behind its port. */
  processes: number;
  /** Whether a server does the worker's jobs too. */
  worker: boolean;
}

export interface OidcConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
  publicAddress: string;
  trustEmail: boolean;
}

export class ConfigError extends Error {
  override name = 'ConfigError';
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * The settings, from the environment and, for what it does not set, from `.env` in the working directory.
 * A server needs more of them than a command does.
 * @throws {ConfigError} naming every wrong setting and what is allowed
 */
export function readConfig({ serving = false, env = process.env, envFile = '.env' } = {}): Config {
  const file = existsSync(envFile) ? parseEnv(readFileSync(envFile, 'utf8')) : {};
  const problems: string[] = [];
  /** Every name that is read is a setting: the names are written nowhere else. */
  const known = new Set<string>();
  const text = (name: string) => {
    known.add(name);
    return (env[name] ?? file[name])?.trim() || undefined;
  };
  const wrong = (name: string, allowed: string) =>
    problems.push(`${name} must be ${allowed}; it is "${text(name)}"`);

  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const value = text(name);
    if (value === undefined) return fallback;
    if (/^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    wrong(name, `a whole number from ${min} to ${max}`);
    return fallback;
  };
  /** What the setting holds, in `parts`; each has to be an address of such a protocol. */
  const addresses = (name: string, protocols: string[], parts: string[], what: string): string[] => {
    if (parts.every((part) => protocols.some((p) => part.startsWith(`${p}//`) && isUrl(part)))) return parts;
    // They may hold passwords: they are not repeated.
    const form = protocols.map((p) => `${p}//HOST:PORT/…`).join(' or ');
    problems.push(`${name} must be ${what}, such as ${form}`);
    return [];
  };
  const url = (name: string, protocols: string[]): string | undefined => {
    const value = text(name);
    return value === undefined ? value : addresses(name, protocols, [value], 'an address')[0];
  };
  /** Separated by commas or blanks; a comma in a password separates nothing. */
  const urls = (name: string, protocols: string[]): string[] => {
    const parts = text(name)?.split(new RegExp(`[\\s,]+(?=(?:${protocols.join('|')})//)`)) ?? [];
    return addresses(name, protocols, parts, 'a list of addresses');
  };
  const networks = (name: string, fallback: string[]): string[] => {
    const value = text(name);
    if (value === undefined) return fallback;
    const list = value.split(/[\s,]+/).filter(Boolean);
    if (!list.every(isNetwork)) wrong(name, 'a list of networks such as 10.0.0.0/8,::1');
    return list;
  };
  const directory = (name: string): string | undefined => {
    const value = text(name);
    if (value !== undefined && !statSync(value, { throwIfNoEntry: false })?.isDirectory())
      wrong(name, 'a directory that is there');
    return value;
  };
  const onOrOff = (name: string, fallback: boolean): boolean => {
    const value = text(name);
    if (value !== undefined && value !== 'on' && value !== 'off') wrong(name, 'on or off');
    return value === undefined ? fallback : value === 'on';
  };
  const logLevel = text('LOG_LEVEL') ?? 'info';
  if (!LOG_LEVELS.includes(logLevel)) wrong('LOG_LEVEL', `one of ${LOG_LEVELS.join(', ')}`);
  const secret = text('TIPLINE_SECRET');
  if (secret !== undefined && secret.length < 32) {
    problems.push('TIPLINE_SECRET must have at least 32 characters');
  }

  const metricsToken = text('METRICS_TOKEN');
  if (metricsToken !== undefined && !/^\S{16,}$/.test(metricsToken)) {
    problems.push('METRICS_TOKEN must have at least 16 characters and no blanks');
  }

  /** TLS vouches for the provider: without it only on this machine. */
  const provider = (): string | undefined => {
    const value = text('OIDC_ISSUER');
    if (
      value === undefined ||
      (isUrl(value) && /^(https:\/\/|http:\/\/(127\.0\.0\.1|localhost)[:/])/.test(value))
    )
      return value;
    wrong('OIDC_ISSUER', 'an address that begins with https://');
    return undefined;
  };
  const oidc = (): OidcConfig | null => {
    const issuer = provider();
    const publicAddress = url('TIPLINE_PUBLIC_ADDRESS', ['http:', 'https:'])?.replace(/\/+$/, '');
    const [clientId, clientSecret] = [text('OIDC_CLIENT_ID'), text('OIDC_CLIENT_SECRET')];
    const trustEmail = onOrOff('OIDC_TRUST_EMAIL', false);
    if (!issuer) {
      if (clientId || clientSecret)
        problems.push('OIDC_ISSUER must be set when OIDC_CLIENT_ID or OIDC_CLIENT_SECRET is');
      return null;
    }
    if (clientId && clientSecret && publicAddress)
      return {
        issuer,
        clientId,
        clientSecret,
        publicAddress,
        trustEmail,
        name: text('OIDC_NAME') ?? 'single sign-on',
      };
    problems.push(
      'OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and TIPLINE_PUBLIC_ADDRESS must be set when OIDC_ISSUER is',
    );
    return null;
  };

  const config: Config = {
    host: text('HOST') ?? '127.0.0.1',
    port: integer('PORT', 8080, 0, 65_535),
    workerPort: text('WORKER_PORT') === undefined ? null : integer('WORKER_PORT', 0, 0, 65_535),
    dataDirectory: text('TIPLINE_DATA_DIR') ?? './data',
    databaseUrl: url('DATABASE_URL', ['postgres:', 'postgresql:']),
    databaseReplicaUrls: urls('DATABASE_REPLICA_URLS', ['postgres:', 'postgresql:']),
    redisUrl: url('REDIS_URL', ['redis:', 'rediss:']),
    secret,
    rateLimit: {
      limit: integer('PUBLIC_API_RATE_LIMIT_PER_WINDOW', 120, 1, 1_000_000_000),
      windowSeconds: integer('PUBLIC_API_RATE_LIMIT_WINDOW_SECONDS', 60, 1, 86_400),
    },
    trustedProxies: networks('TRUSTED_PROXIES', []),
    metricsToken,
    logLevel,
    spoolBytes: integer('TIPLINE_SPOOL_MB', 4096, 1, 1_000_000) * 1024 * 1024,
    diskReserveBytes: integer('TIPLINE_DISK_RESERVE_MB', 256, 0, 1_000_000) * 1024 * 1024,
    sigmaRules: directory('TIPLINE_SIGMA_RULES'),
    outboundNetworks: networks('OUTBOUND_NETWORKS', []),
    feedBytes: integer('TIPLINE_FEED_MB', 1024, 1, 1_000_000) * 1024 * 1024,
    uploadBytes: integer('TIPLINE_UPLOAD_MB', 512, 1, 1_000_000) * 1024 * 1024,
    oidc: oidc(),
    shutdownDelaySeconds: integer('TIPLINE_SHUTDOWN_DELAY_SECONDS', 0, 0, 600),
    processes: integer('TIPLINE_PROCESSES', 1, 1, 256),
    worker: onOrOff('TIPLINE_WORKER', true),
  };
  if (config.databaseReplicaUrls.length > 0 && !config.databaseUrl)
    problems.push('DATABASE_URL must be set when DATABASE_REPLICA_URLS is');
  if (config.processes > 1 && !(config.databaseUrl && config.redisUrl))
    problems.push('DATABASE_URL and REDIS_URL must be set when TIPLINE_PROCESSES is more than 1');
  if (serving && config.databaseUrl && !secret)
    problems.push('TIPLINE_SECRET must be set when DATABASE_URL is');
  problems.push(...unknownSettings({ ...file, ...env }, known));
  if (problems.length > 0) throw new ConfigError(`The configuration is wrong:\n  ${problems.join('\n  ')}`);
  return config;
}

/** Not by URL.canParse, which is wrong at times in Node 20. */
function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}
