import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { TlsFiles } from '../../src/config/config.ts';
import type { Identity } from './certificates.ts';
import { temporaryDirectory } from './directories.ts';

/** Writes a certificate and its key into a directory, by default one of its own. */
export function writeIdentity({ cert, key }: Identity, directory = temporaryDirectory()): TlsFiles {
  mkdirSync(directory, { recursive: true });
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') };
  writeFileSync(files.certificate, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  return { ...files, passphrase: undefined };
}

/** The same in the layout of a Kubernetes secret: the files are links into a directory that is a link itself. */
export function linkIdentity(identity: Identity): { files: TlsFiles; directory: string } {
  const directory = temporaryDirectory();
  writeIdentity(identity, join(directory, '..1'));
  symlinkSync('..1', join(directory, '..data'));
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(directory, name));
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') };
  return { files: { ...files, passphrase: undefined }, directory };
}

export interface TlsResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends a request to a URL; `ca` is the certificate to trust. */
export function send(
  url: string,
  ca: string,
  options: Omit<RequestOptions, 'ca'> & { body?: string; agent?: Agent } = {},
): Promise<TlsResponse> {
  return new Promise((done, fail) => {
    const { body, ...rest } = options;
    const sent = request(url, { ca, ...rest }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('end', () =>
        done({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    sent.once('error', fail).end(body);
  });
}

/** Opens a connection to a port of 127.0.0.1; resolves after the handshake. @throws the error of it */
export function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((done, fail) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ...options }, () =>
      done(socket),
    );
    // Also those after the handshake, which the caller sees as the end of the connection.
    socket.on('error', fail);
  });
}
