import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

// Queries for addresses, and a server for them.

export const NXDOMAIN = 3;
export const REFUSED = 5;

/** The response code of a DNS query for an address; null: no response within a second. */
export async function query(name: string, port: number): Promise<number | null> {
  const question = name
    .split('.')
    .map((label) => String.fromCharCode(label.length) + label)
    .join('');
  const header = Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const message = Buffer.concat([header, Buffer.from(`${question}\0\0\x01\0\x01`, 'latin1')]);
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  socket.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.send(message);
    const [reply] = (await once(socket, 'message', { signal: AbortSignal.timeout(1000) })) as [Buffer];
    return (reply[3] ?? 0) & 15;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

/** Starts a DNS server on loopback whose names all have one address; other records do not exist. */
export async function serveNames(
  addressOf: (name: string) => string,
): Promise<{ port: number; close(): void }> {
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    let end = 12;
    const labels: string[] = [];
    for (let length = message[end] ?? 0; length > 0; length = message[end] ?? 0) {
      labels.push(message.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const isAddress = message.readUInt16BE(end + 1) === 1;
    const header = Buffer.concat([
      message.subarray(0, 2),
      Buffer.from([0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]),
    ]);
    const address4 = addressOf(labels.join('.').toLowerCase()).split('.').map(Number);
    // A record of the name in the question, with a TTL of one second.
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address4]);
    const question = message.subarray(12, end + 5);
    socket.send(Buffer.concat([header, question, ...(isAddress ? [record] : [])]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: (socket.address() as AddressInfo).port, close: () => socket.close() };
}
