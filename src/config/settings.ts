import {
  anyText,
  directory,
  httpsUrl,
  type Kind,
  megabytes,
  networks,
  oneOf,
  onOrOff,
  postgresUrl,
  postgresUrls,
  redisUrl,
  secret,
  url,
  wholeNumber,
} from './kinds.ts';

interface Description {
  /** The default as text; absent: the setting is optional. */
  default?: string;
  /** The text that is shown in place of a missing default; absent: "none". */
  without?: string;
  /** An example value for the documentation and `.env.example`. */
  example?: string;
  /** The description in the help, the documentation and `.env.example`; Markdown. */
  meaning: string;
}

export interface Setting<T = unknown> extends Description {
  /** The environment variable. */
  name: string;
  kind: Kind<T>;
}

const setting = <T, const D extends Description>(name: string, kind: Kind<T>, description: D) => ({
  name,
  kind,
  ...description,
});

/** All settings. Types, checks, `--help`, docs/reference/configuration.md and `.env.example` derive from them. */
export const SETTINGS = {
  host: setting('HOST', anyText, { default: '127.0.0.1', meaning: 'address to listen on' }),
  port: setting('PORT', wholeNumber(0, 65_535), {
    default: '8080',
    meaning: 'port to listen on; 0 takes a free one',
  }),
  dataDirectory: setting('TIPLINE_DATA_DIR', anyText, {
    default: './data',
    meaning: 'directory of the embedded database, readable by its owner only',
  }),
  databaseUrl: setting('DATABASE_URL', postgresUrl, {
    without: 'embedded',
    example: 'postgres://user:password@host/database',
    meaning: 'PostgreSQL 15 or newer with the extension `pg_trgm`',
  }),
  databaseReplicaUrls: setting('DATABASE_REPLICA_URLS', postgresUrls, {
    default: '',
    example: 'postgres://user:password@host2/database',
    meaning: 'streaming replicas that serve reads while their lag is within bounds; comma-separated',
  }),
  redisUrl: setting('REDIS_URL', redisUrl, {
    without: 'embedded',
    example: 'redis://host:6379',
    meaning: 'Redis or Valkey, single or cluster; `rediss://…` for TLS',
  }),
  secret: setting('TIPLINE_SECRET', secret(/^.{32,}$/s, 'at least 32 characters long'), {
    without: 'generated for the embedded database',
    meaning:
      'encrypts credentials, second factors and cursors, at least 32 characters; required with `DATABASE_URL`, the same on all nodes',
  }),
  rateLimit: setting('PUBLIC_API_RATE_LIMIT_PER_WINDOW', wholeNumber(1, 1_000_000_000), {
    default: '120',
    meaning: 'requests per key and window',
  }),
  rateLimitWindowSeconds: setting('PUBLIC_API_RATE_LIMIT_WINDOW_SECONDS', wholeNumber(1, 86_400), {
    default: '60',
    meaning: 'length of the window',
  }),
  tlsCertificate: setting('TIPLINE_TLS_CERT', anyText, {
    example: '/etc/tipline/tls.crt',
    meaning:
      'file with the certificate and those of its authorities, in PEM: the server then serves HTTPS and no HTTP; requires `TIPLINE_TLS_KEY`',
  }),
  tlsKey: setting('TIPLINE_TLS_KEY', anyText, {
    example: '/etc/tipline/tls.key',
    meaning:
      'file with the private key of the certificate, in PEM; both files are read again when they change',
  }),
  tlsPassphrase: setting(
    'TIPLINE_TLS_PASSPHRASE',
    { ...anyText, isSecret: true },
    { meaning: 'decrypts the private key, if it is encrypted' },
  ),
  redirectPort: setting('REDIRECT_PORT', wholeNumber(0, 65_535), {
    example: '8080',
    meaning: 'port on `HOST` where requests without TLS are redirected to HTTPS; 0 takes a free one',
  }),
  hstsDays: setting('TIPLINE_HSTS_DAYS', wholeNumber(0, 3_650), {
    default: '0',
    meaning:
      'days for which browsers use HTTPS only, on all ports of the host name (`Strict-Transport-Security`); 0 sends no such header',
  }),
  trustedProxies: setting('TRUSTED_PROXIES', networks, {
    default: '',
    example: '10.0.0.0/8,::1',
    meaning: 'networks whose `X-Forwarded-For` is trusted',
  }),
  spoolBytes: setting('TIPLINE_SPOOL_MB', megabytes(1), {
    default: '4096',
    meaning: 'disk space for exports, in `spool` under the data directory',
  }),
  diskReserveBytes: setting('TIPLINE_DISK_RESERVE_MB', megabytes(0), {
    default: '256',
    meaning: 'free disk space below which the embedded database is read-only; 0 turns this off',
  }),
  sigmaRules: setting('TIPLINE_SIGMA_RULES', directory, {
    example: './sigma-rules',
    meaning: 'a checkout of community Sigma rules, added to the bundles of actors and campaigns by technique',
  }),
  publicAddress: setting('TIPLINE_PUBLIC_ADDRESS', url('http:', 'https:'), {
    example: 'https://tipline.example.org',
    meaning: 'public URL: for links in exports, and required by `OIDC_ISSUER`',
  }),
  oidcIssuer: setting('OIDC_ISSUER', httpsUrl, {
    example: 'https://id.example.org/realms/soc',
    meaning: 'OpenID provider for sign-in, in addition to passwords',
  }),
  oidcClientId: setting('OIDC_CLIENT_ID', anyText, {
    example: 'tipline',
    meaning: 'client id at the provider',
  }),
  oidcClientSecret: setting(
    'OIDC_CLIENT_SECRET',
    { ...anyText, isSecret: true },
    {
      meaning: 'client secret at the provider',
    },
  ),
  oidcName: setting('OIDC_NAME', anyText, {
    default: 'single sign-on',
    meaning: 'label of the button: Sign in with …',
  }),
  oidcTrustEmail: setting('OIDC_TRUST_EMAIL', onOrOff, {
    default: 'off',
    meaning: '`on`: accept e-mail addresses that the provider does not mark as verified',
  }),
  firstStartLink: setting('TIPLINE_FIRST_START_LINK', onOrOff, {
    default: 'on',
    meaning:
      '`off`: the server prints no link for the first account, which standard output would put into the log of a container; create the account with `tipline users create`',
  }),
  processes: setting('TIPLINE_PROCESSES', wholeNumber(1, 256), {
    default: '1',
    meaning:
      'server processes behind one port, such as one per core; more than one requires `DATABASE_URL` and `REDIS_URL`',
  }),
  shutdownDelaySeconds: setting('TIPLINE_SHUTDOWN_DELAY_SECONDS', wholeNumber(0, 600), {
    default: '0',
    meaning:
      'seconds between SIGTERM and closing the port; meanwhile `/api/health/ready` is 503 and requests are served. Set it to what the load balancer needs to notice',
  }),
  worker: setting('TIPLINE_WORKER', onOrOff, {
    default: 'on',
    meaning: '`off`: no background jobs in this process; run `tipline worker`',
  }),
  workerPort: setting('WORKER_PORT', wholeNumber(0, 65_535), {
    example: '8081',
    meaning: 'port on `HOST` where `tipline worker` serves `/api/health` and `/metrics`; 0 takes a free one',
  }),
  uploadBytes: setting('TIPLINE_UPLOAD_MB', megabytes(1), {
    default: '512',
    meaning: 'largest file that can be uploaded in the application',
  }),
  feedBytes: setting('TIPLINE_FEED_MB', megabytes(1), {
    default: '1024',
    meaning: 'most that one run of a feed may fetch, unpacked',
  }),
  widestIpv4: setting('TIPLINE_WIDEST_IPV4', wholeNumber(1, 32), {
    default: '8',
    meaning: 'shortest prefix of an IPv4 network that imports accept',
  }),
  widestIpv6: setting('TIPLINE_WIDEST_IPV6', wholeNumber(1, 128), {
    default: '19',
    meaning: 'shortest prefix of an IPv6 network that imports accept',
  }),
  outboundNetworks: setting('OUTBOUND_NETWORKS', networks, {
    default: '',
    example: '10.20.0.0/16',
    meaning: 'private networks that feeds and providers may be in',
  }),
  changeDays: setting('TIPLINE_CHANGE_DAYS', wholeNumber(1, 3_650), {
    default: '30',
    meaning: 'days for which a client of the change feed may be away and still go on from its cursor',
  }),
  metricsToken: setting('METRICS_TOKEN', secret(/^\S{16,}$/, 'at least 16 characters long, without blanks'), {
    meaning: 'bearer token for `/metrics`, at least 16 characters; without it `/metrics` is closed',
  }),
  otlpEndpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', url('http:', 'https:'), {
    example: 'http://127.0.0.1:4318',
    meaning: 'OpenTelemetry collector that gets traces (OTLP over HTTP); without it there are none',
  }),
  logLevel: setting('LOG_LEVEL', oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), {
    default: 'info',
    meaning:
      '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`; the log is JSON on standard error',
  }),
};

type Settings = typeof SETTINGS;
type Value<S> = S extends { kind: Kind<infer T> }
  ? S extends { default: string }
    ? T
    : T | undefined
  : never;

export type Config = { readonly [K in keyof Settings]: Value<Settings[K]> };
