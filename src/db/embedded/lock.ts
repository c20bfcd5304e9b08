import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The part of the data directory with the files of the embedded database. */
export const PGDATA = 'pgdata';

/**
 * The lock on a data directory is a listening Unix socket inside it. The kernel closes it with its process,
 * however that ends, so it can neither outlive a kill -9 nor be mistaken for a reused process id, and it
 * works between containers that share the directory. Other processes reach the store through the same socket.
 */
const SOCKET_NAME = /^store-(\d+)-[0-9a-f]+\.sock$/;
/** sun_path holds 108 bytes on Linux, 104 on macOS, with the closing zero. */
const MAX_SOCKET_PATH = 100;

export interface StoreLock {
  /** Also ends every connection. */
  release(): Promise<void>;
}

/**
 * Takes the lock, or returns null when another process holds it. Safe because a holder listens before it
 * checks for other listeners: of two processes, at least one sees the other.
 */
export async function takeStoreLock(
  directory: string,
  onConnection: (socket: Socket) => void,
): Promise<StoreLock | null> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if ((await holders(directory)).length > 0) return null;
    const name = `store-${process.pid}-${randomBytes(4).toString('hex')}.sock`;
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.once('close', () => sockets.delete(socket)));
      onConnection(socket);
    });
    await withShortPath(directory, (short) => listen(server, join(short, name)));
    const lock = { release: () => close(server, sockets, join(directory, name)) };
    const others = (await holders(directory)).filter((other) => other !== name);
    if (others.length === 0 && (await exists(join(directory, name)))) {
      await removeDead(directory, name);
      return lock;
    }
    await lock.release();
    // Two processes that collide both back off; the random delay separates them.
    await delay(10 + Math.random() * 50);
  }
  return null;
}

/** Connects to the process that holds the directory's lock; null when nobody does. */
export async function connectToHolder(directory: string): Promise<Socket | null> {
  const [name] = await holders(directory);
  if (name === undefined) return null;
  return withShortPath(directory, (short) => connect(join(short, name)));
}

/** Returns the process id of the holder, for messages. */
export async function holderPid(directory: string): Promise<number | null> {
  const [name] = await holders(directory);
  const pid = name?.match(SOCKET_NAME)?.[1];
  return pid === undefined ? null : Number(pid);
}

async function socketNames(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => SOCKET_NAME.test(name));
}

async function holders(directory: string): Promise<string[]> {
  const names = await socketNames(directory);
  if (names.length === 0) return [];
  return withShortPath(directory, async (short) => {
    const alive = await Promise.all(names.map((name) => isListening(join(short, name))));
    return names.filter((_, i) => alive[i]);
  });
}

async function removeDead(directory: string, own: string): Promise<void> {
  const dead = (await socketNames(directory)).filter((name) => name !== own);
  await Promise.all(dead.map((name) => rm(join(directory, name), { force: true })));
}

async function isListening(path: string): Promise<boolean> {
  const socket = await connect(path).catch((error: NodeJS.ErrnoException) => error);
  if (!(socket instanceof Error)) {
    socket.destroy();
    return true;
  }
  // Anything else (a full backlog, no permission) may be a living holder: better refuse than open twice.
  return socket.code !== 'ECONNREFUSED' && socket.code !== 'ENOENT';
}

function connect(path: string): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = createConnection(path);
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      done(socket);
    });
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(path, () => {
      server.off('error', fail);
      done();
    });
  });
}

async function close(server: Server, sockets: Iterable<Socket>, path: string): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  // A client that waits for a reply would otherwise wait for this process, and this process for the client.
  for (const socket of sockets) socket.destroy();
  await closed;
  await rm(path, { force: true });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Runs `use` with a path to the directory that is short enough for a socket in it. */
async function withShortPath<T>(directory: string, use: (short: string) => Promise<T>): Promise<T> {
  const path = resolve(directory);
  const longest = join(path, `store-${2 ** 22}-00000000.sock`);
  if (Buffer.byteLength(longest) <= MAX_SOCKET_PATH) return use(path);
  const temporary = await mkdtemp(join(tmpdir(), 'tipline-'));
  try {
    await symlink(path, join(temporary, 'd'));
    return await use(join(temporary, 'd'));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/**
 * Creates a directory level by level: Node's `mkdir` with `recursive` never returns on a file system that
 * cannot hold files, such as /proc.
 */
export async function makeDirectory(directory: string): Promise<void> {
  if (await isDirectory(directory)) return;
  const parent = dirname(resolve(directory));
  if (parent !== resolve(directory)) await makeDirectory(parent);
  await mkdir(directory, { mode: 0o700 }).catch(async (error) => {
    if (!(await isDirectory(directory))) throw error;
  });
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/**
 * Requires that this user owns the database: files that another user adds, root included, would lock the
 * owner out.
 * @throws when the database belongs to another user than the one of this process
 */
export async function requireOwnFiles(pgdata: string): Promise<void> {
  const owner = await stat(pgdata).then(
    ({ uid }) => uid,
    () => undefined,
  );
  const user = process.geteuid?.();
  if (owner === undefined || user === undefined || owner === user) return;
  throw new Error(
    `The database in ${pgdata} belongs to the user with id ${owner}, and this is the user with id ${user}: run the command as its owner, or change the owner of the whole directory.`,
  );
}
