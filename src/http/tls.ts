import { constants, createPrivateKey, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerOptions } from 'node:http';
import { createSecureContext, type SecureContextOptions, Server, type TlsOptions } from 'node:tls';
import type { Clock } from '../clock.ts';
import { ConfigError, type TlsFiles } from '../config/config.ts';
import { systemReason } from '../model/system-error.ts';

/**
 * The versions and cipher suites of Mozilla's intermediate configuration (https://wiki.mozilla.org/Security/Server_Side_TLS), without
 * finite-field Diffie-Hellman: TLS 1.3, and of TLS 1.2 the suites with forward secrecy and authenticated encryption. Security level 2
 * of OpenSSL rejects keys of less than 112 bits of security, such as RSA with 1,024 bits.
 */
const PROTOCOL: TlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    '@SECLEVEL=2',
  ].join(':'),
  // All suites are strong: a client without instructions for AES chooses ChaCha20.
  honorCipherOrder: false,
  // A client that renegotiates makes the server compute a handshake for a few bytes (CVE-2011-1473).
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  ALPNProtocols: ['http/1.1'],
  // Node derives its default from the command line, which differs between the processes of a cluster.
  sessionIdContext: 'tipline',
};

/** A client that has not completed its handshake by then is disconnected. */
const HANDSHAKE_MS = 10_000;
/** How often the files are read. Watching them would miss replaced directories and network file systems. */
const CHECK_MS = 5_000;
/** The key of session tickets decrypts recorded sessions of TLS 1.2, so that it must not last. */
const TICKET_KEY_MS = 86_400_000;
const TICKET_KEY_BYTES = 48;

/** Calls `use` with the key of session tickets once there is one, and with each later one. */
export type TicketKeys = (use: (key: Buffer) => void) => void;

/** Makes a random key of session tickets at once, and a new one each day. */
export const rotateTicketKeys: TicketKeys = (use) => {
  const renew = () => use(randomBytes(TICKET_KEY_BYTES));
  renew();
  setInterval(renew, TICKET_KEY_MS).unref();
};

/** TLS of the server in this process. */
export interface Tls {
  /** Options of Node's HTTPS server. */
  options: TlsOptions;
  /** Returns the certificate in use, without those of its authorities. */
  certificate(): X509Certificate;
  /** Returns when it expires. */
  expiresAt(): Date;
  /** Makes a server use later certificates and keys, too. */
  applyTo(server: unknown): void;
  /** Reads the files, and uses them if they have changed and are valid. Never rejects: problems are logged. */
  reload(): Promise<void>;
  /** Ends the regular reading of the files. */
  close(): Promise<void>;
}

/** Returns the option of Fastify that makes a server with TLS, or without it. For Fastify's types both are the same. */
export function serverOptions(
  http: ServerOptions,
  tls: Pick<Tls, 'options'> | undefined,
): { http: ServerOptions } {
  return (tls ? { https: { ...http, ...tls.options } } : { http }) as { http: ServerOptions };
}

interface TlsDeps {
  clock: Clock;
  log: {
    info(details: object, message: string): void;
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  ticketKeys: TicketKeys;
  /** Default: 10 seconds. */
  handshakeTimeoutMs?: number;
}

/**
 * Reads certificate and key, and reads them again regularly.
 * @throws {ConfigError} naming the setting, the file and the reason, when they cannot be used
 */
export async function openTls(
  files: TlsFiles,
  { clock, log, ticketKeys, handshakeTimeoutMs = HANDSHAKE_MS }: TlsDeps,
): Promise<Tls> {
  let used = parsePair(await readPair(files), files);
  let problem: string | null = null;
  let ticketKey: Buffer | undefined;
  const servers: Server[] = [];
  const options = () => ({ ...PROTOCOL, ...used.context, ...(ticketKey && { ticketKeys: ticketKey }) });
  /** The certificate and the problem of its dates that were logged last: they are not logged again with each reload. */
  let warned: [X509Certificate, string] | undefined;
  const warnOfDates = () => {
    const { certificate } = used;
    const details = { file: files.certificate, from: validFrom(certificate), until: validUntil(certificate) };
    const now = clock();
    const dated =
      now > details.until
        ? 'the TLS certificate has expired'
        : now < details.from
          ? 'the TLS certificate is not valid yet'
          : null;
    if (dated === null || (warned?.[0] === certificate && warned[1] === dated)) return;
    warned = [certificate, dated];
    log.warn(details, dated);
  };
  const reload = async () => {
    try {
      const read = await readPair(files);
      if (!isSame(read, used.context)) {
        used = parsePair(read, files);
        for (const server of servers) server.setSecureContext(options());
        log.info(
          { file: files.certificate, until: validUntil(used.certificate) },
          'TLS certificate reloaded',
        );
      }
      problem = null;
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem)
        log.error({ reason: message }, 'TLS certificate not reloaded: the previous one stays in use');
      problem = message;
    }
    // A certificate whose renewal fails expires while it is in use.
    warnOfDates();
  };
  ticketKeys((key) => {
    ticketKey = key;
    for (const server of servers) server.setTicketKeys(key);
  });
  warnOfDates();
  let reading = Promise.resolve();
  const timer = setInterval(() => {
    reading = reading.then(reload);
  }, CHECK_MS).unref();
  return {
    options: { ...options(), handshakeTimeout: handshakeTimeoutMs },
    certificate: () => used.certificate,
    expiresAt: () => validUntil(used.certificate),
    applyTo(server) {
      if (!(server instanceof Server)) throw new TypeError('the server has no TLS');
      servers.push(server);
      if (ticketKey) server.setTicketKeys(ticketKey);
    },
    reload,
    async close() {
      clearInterval(timer);
      await reading;
    },
  };
}

const validFrom = ({ validFrom: from }: X509Certificate) => new Date(from);
const validUntil = ({ validTo }: X509Certificate) => new Date(validTo);

/** The content of both files. */
interface Pair {
  cert: Buffer;
  key: Buffer;
}

interface ParsedPair {
  certificate: X509Certificate;
  context: SecureContextOptions & Pair;
}

const isSame = (a: Pair, b: Pair) => a.cert.equals(b.cert) && a.key.equals(b.key);

/** @throws {ConfigError} */
async function readPair(files: TlsFiles): Promise<Pair> {
  const cert = await readSetting('TIPLINE_TLS_CERT', files.certificate);
  return { cert, key: await readSetting('TIPLINE_TLS_KEY', files.key) };
}

/** @throws {ConfigError} when they cannot be used, or not together */
function parsePair({ cert, key }: Pair, files: TlsFiles): ParsedPair {
  const certificate = parseCertificate(cert, files.certificate);
  if (!certificate.checkPrivateKey(parseKey(key, files)))
    throw new ConfigError(
      `TIPLINE_TLS_KEY: the key in ${files.key} does not belong to the first certificate in ${files.certificate} (TIPLINE_TLS_CERT).`,
    );
  const context = { cert, key, ...(files.passphrase !== undefined && { passphrase: files.passphrase }) };
  try {
    createSecureContext({ ...PROTOCOL, ...context });
  } catch (error) {
    throw unusable('TIPLINE_TLS_CERT', files.certificate, opensslReason(error));
  }
  return { certificate, context };
}

async function readSetting(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw unusable(setting, path, systemReason(error) ?? (error as Error).message);
  }
}

/** Parses the first certificate. The others are those of its authorities, which are sent with it. */
function parseCertificate(pem: Buffer, path: string): X509Certificate {
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw unusable('TIPLINE_TLS_CERT', path, 'it holds no certificate in PEM');
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw unusable('TIPLINE_TLS_CERT', path, opensslReason(error));
  }
}

function parseKey(pem: Buffer, { key: path, passphrase }: TlsFiles): KeyObject {
  if (!/-----BEGIN (\w+ )*PRIVATE KEY-----/.test(pem.toString('latin1')))
    throw unusable('TIPLINE_TLS_KEY', path, 'it holds no private key in PEM');
  const isEncrypted = /ENCRYPTED/.test(pem.toString('latin1'));
  if (isEncrypted && passphrase === undefined)
    throw unusable('TIPLINE_TLS_KEY', path, 'it is encrypted, and TIPLINE_TLS_PASSPHRASE is not set');
  try {
    return createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    throw unusable(
      'TIPLINE_TLS_KEY',
      path,
      isEncrypted ? 'TIPLINE_TLS_PASSPHRASE does not decrypt it' : opensslReason(error),
    );
  }
}

const unusable = (setting: string, path: string, reason: string) =>
  new ConfigError(`${setting}: ${path} cannot be used: ${reason}.`);

/** Returns OpenSSL's short reason, such as "ee key too small". */
const opensslReason = (error: unknown) => (error as { reason?: string }).reason ?? (error as Error).message;
