import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipMember {
  name: string;
  content: Buffer | string;
  stored?: boolean;
  flags?: number;
  method?: number;
  checksum?: number;
  /** Said to be the unpacked size. */
  size?: number;
  /** The type bits and permissions of Unix. */
  mode?: number;
  /** The local header of the member of this index is used, in place of one of its own. */
  sharing?: number;
}

/** A zip file, byte by byte (APPNOTE 4.3), so that it can lie. */
export function zipFile(members: ZipMember[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const member of members) {
    const packed = member.stored ? Buffer.from(member.content) : deflateRawSync(member.content);
    offsets.push(member.sharing === undefined ? offset : (offsets[member.sharing] ?? 0));
    directory.push(header(member, packed, offsets.at(-1)));
    if (member.sharing !== undefined) continue;
    parts.push(header(member, packed), packed);
    offset += (parts.at(-2)?.length ?? 0) + packed.length;
  }
  const central = Buffer.concat(directory);
  return Buffer.concat([...parts, central, ending(members.length, central.length, offset)]);
}

/** A local header, or with an offset one of the central directory. */
function header(member: ZipMember, packed: Buffer, offset?: number): Buffer {
  const name = Buffer.from(member.name);
  const both = Buffer.alloc(26);
  both.writeUInt16LE(20, 0);
  both.writeUInt16LE(member.flags ?? 0, 2);
  both.writeUInt16LE(member.method ?? (member.stored ? 0 : 8), 4);
  both.writeUInt32LE(member.checksum ?? crc32(member.content), 10);
  both.writeUInt32LE(packed.length, 14);
  both.writeUInt32LE(member.size ?? Buffer.byteLength(member.content), 18);
  both.writeUInt16LE(name.length, 22);
  if (offset === undefined) return Buffer.concat([Buffer.from('PK\u0003\u0004'), both, name]);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(((member.mode ?? 0) << 16) >>> 0, 6);
  rest.writeUInt32LE(offset, 10);
  // Made on Unix (3), by version 2.0.
  return Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 3]), both, rest, name]);
}

function ending(entries: number, directoryBytes: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(directoryBytes, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
