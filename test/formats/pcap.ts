import ipaddr from 'ipaddr.js';

/** Who speaks with whom. */
export interface Endpoints {
  client: string;
  clientPort: number;
  server: string;
  serverPort: number;
}

const TCP = 6;
const UDP = 17;
/** What an Ethernet frame carries of a connection, about. */
const SEGMENT_LENGTH = 1400;
const NOTHING = Buffer.alloc(0);
const [FIN, SYN, RST, PSH, ACK] = [1, 2, 4, 8, 16];

/** A capture of Ethernet frames, a millisecond apart; checksums are left zero, so replay it without checking them. */
export function captureFile(frames: readonly Buffer[]): Buffer {
  const header = Buffer.from('d4c3b2a1020004000000000000000000ffff000001000000', 'hex');
  const records = frames.map((frame, index) => {
    const record = Buffer.alloc(16);
    record.writeUInt32LE(1_767_323_045 + Math.floor(index / 1000), 0);
    record.writeUInt32LE((index % 1000) * 1000, 4);
    record.writeUInt32LE(frame.length, 8);
    record.writeUInt32LE(frame.length, 12);
    return Buffer.concat([record, frame]);
  });
  return Buffer.concat([header, ...records]);
}

/** A connection: handshake, the request, an answer, the end. */
export function tcpConnection(ends: Endpoints, request: Buffer, answer: Buffer = NOTHING): Buffer[] {
  const { client, clientPort, server, serverPort } = ends;
  const sequence = { out: 1000, in: 5000 };
  const send = (flags: number, payload: Buffer = NOTHING) => {
    const frame = tcpFrame(client, clientPort, server, serverPort, sequence.out, sequence.in, flags, payload);
    sequence.out += payload.length + (flags & (SYN | FIN) ? 1 : 0);
    return frame;
  };
  const receive = (flags: number, payload: Buffer = NOTHING) => {
    const frame = tcpFrame(server, serverPort, client, clientPort, sequence.in, sequence.out, flags, payload);
    sequence.in += payload.length + (flags & (SYN | FIN) ? 1 : 0);
    return frame;
  };
  const hands = [send(SYN), receive(SYN | ACK), send(ACK)];
  const talk = [...segments(request).map((segment) => send(PSH | ACK, segment)), receive(ACK)];
  const answered = answer.length === 0 ? [] : [receive(PSH | ACK, answer), send(ACK)];
  return [...hands, ...talk, ...answered, send(FIN | ACK), receive(FIN | ACK), send(ACK)];
}

/** RFC 9293 §3.7.1: the largest segment, which every system states in its SYN. */
const MSS = Buffer.from('020405b4', 'hex');

/** A connection that is not made: a SYN, repeated or not, that is answered by a RST or not at all. */
export function connectionAttempt(
  { client, clientPort, server, serverPort }: Endpoints,
  { times = 1, isRefused = false, options = MSS } = {},
): Buffer[] {
  const syn = tcpFrame(client, clientPort, server, serverPort, 1000, 0, SYN, NOTHING, options);
  const refusal = tcpFrame(server, serverPort, client, clientPort, 0, 1001, RST | ACK, NOTHING);
  return [...Array.from({ length: times }, () => syn), ...(isRefused ? [refusal] : [])];
}

function segments(payload: Buffer): Buffer[] {
  const count = Math.ceil(payload.length / SEGMENT_LENGTH);
  return Array.from({ length: count }, (_, index) =>
    payload.subarray(index * SEGMENT_LENGTH, (index + 1) * SEGMENT_LENGTH),
  );
}

function tcpFrame(
  source: string,
  sourcePort: number,
  target: string,
  targetPort: number,
  sequence: number,
  acknowledged: number,
  flags: number,
  payload: Buffer,
  options = NOTHING,
): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt16BE(sourcePort, 0);
  header.writeUInt16BE(targetPort, 2);
  header.writeUInt32BE(sequence, 4);
  header.writeUInt32BE(flags === SYN ? 0 : acknowledged, 8);
  header.writeUInt16BE(((5 + options.length / 4) << 12) | flags, 12);
  header.writeUInt16BE(65_535, 14);
  return ipFrame(source, target, TCP, Buffer.concat([header, options, payload]));
}

/** One datagram from the client. */
export function udpDatagram(
  { client, clientPort, server, serverPort }: Endpoints,
  payload: Buffer,
): Buffer[] {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(clientPort, 0);
  header.writeUInt16BE(serverPort, 2);
  header.writeUInt16BE(8 + payload.length, 4);
  return [ipFrame(client, server, UDP, Buffer.concat([header, payload]))];
}

function ipFrame(source: string, target: string, protocol: number, payload: Buffer): Buffer {
  const ethernet = Buffer.from('020000000001020000000002', 'hex');
  const addresses = Buffer.from([source, target].flatMap((address) => ipaddr.parse(address).toByteArray()));
  if (target.includes(':')) {
    const header = Buffer.from('86dd6000000000000040', 'hex');
    header.writeUInt16BE(payload.length, 6);
    header.writeUInt8(protocol, 8);
    return Buffer.concat([ethernet, header, addresses, payload]);
  }
  const header = Buffer.from('0800450000000001400040000000', 'hex');
  header.writeUInt16BE(20 + payload.length, 4);
  header.writeUInt8(protocol, 11);
  return Buffer.concat([ethernet, header, addresses, payload]);
}

/** RFC 1035 §4.1: a recursive query for an address of the name. */
export function dnsQuery(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  const header = Buffer.from('123401000001000000000000', 'hex');
  return Buffer.concat([header, ...labels, Buffer.from('0000010001', 'hex')]);
}

/** RFC 1035 §4.2.2: over TCP, a message comes after its length. */
export function withLength(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/**
 * RFC 8446 §4.1.2 and RFC 6066 §3: a client hello with the server name between other extensions. Before it stands a
 * key share of a size that today's hybrid ones have, so that the hello takes two segments; zeros, which look like
 * the type of the server name. The extension after it is of a type that reads `jj` as text (GREASE, RFC 8701): nothing
 * but the length says where the name ends.
 */
export function clientHello(name: string): Buffer {
  const entry = Buffer.concat([Buffer.from([0]), withLength(Buffer.from(name))]);
  const serverName = Buffer.concat([Buffer.from('0000', 'hex'), withLength(withLength(entry))]);
  const before = Buffer.concat([Buffer.from('0033', 'hex'), withLength(Buffer.alloc(1300))]);
  const after = Buffer.from('6a6a0000000b00020100', 'hex');
  const extensions = withLength(Buffer.concat([before, serverName, after]));
  const fixed = Buffer.from(`0303${'11'.repeat(32)}000004c02fc0300100`, 'hex');
  const body = Buffer.concat([fixed, extensions]);
  const handshake = Buffer.concat([Buffer.from([1, 0]), withLength(body)]);
  return Buffer.concat([Buffer.from('160301', 'hex'), withLength(handshake)]);
}

/** RFC 5246 §7.4.1.3 and §7.4.2: a server hello of TLS 1.2, in which certificates are sent in the clear, and one. */
export function serverCertificate(der: Buffer): Buffer {
  const hello = Buffer.from(`0303${'22'.repeat(32)}00c02f00`, 'hex');
  const uint24 = (length: number) => Buffer.from([length >> 16, (length >> 8) & 255, length & 255]);
  const message = (type: number, body: Buffer) =>
    Buffer.concat([Buffer.from([type]), uint24(body.length), body]);
  const one = Buffer.concat([uint24(der.length), der]);
  const list = Buffer.concat([uint24(one.length), one]);
  const handshake = Buffer.concat([message(2, hello), message(11, list)]);
  return Buffer.concat([Buffer.from('160303', 'hex'), withLength(handshake)]);
}

/** A GET with the target as given, origin-form or absolute-form. */
export function httpRequest(host: string, target: string, userAgent = 'Mozilla/5.0'): Buffer {
  return Buffer.from(
    `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${userAgent}\r\nAccept: */*\r\n\r\n`,
  );
}

export const HTTP_ANSWER = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok',
);
