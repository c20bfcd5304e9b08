import { fdatasyncSync, fsyncSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** The parts that are used of Emscripten's FS and NODEFS, https://emscripten.org/docs/api_reference/Filesystem-API.html. */
interface Files {
  FS: { isDir(mode: number): boolean };
  NODEFS: { stream_ops: { fsync?: (stream: OpenFile) => number }; tryFSOperation<T>(operation: () => T): T };
}

interface OpenFile {
  /** The file descriptor of Node. */
  nfd: number;
  node: { mode: number };
}

/**
 * PGlite's files in a directory, flushed to the disk when PostgreSQL asks for it: Emscripten's NODEFS has no fsync of its own, so
 * that PostgreSQL's would do nothing. Its fdatasync never does anything: `wal_sync_method` must be `fsync`.
 */
export class DurableFiles extends NodeFS {
  override async init(...[pglite, options]: Parameters<NodeFS['init']>) {
    const { emscriptenOpts } = await super.init(pglite, options);
    const addFsync = ({ FS, NODEFS }: Files) => {
      NODEFS.stream_ops.fsync = ({ nfd, node }) => {
        NODEFS.tryFSOperation(() => (FS.isDir(node.mode) ? fsyncSync(nfd) : fdatasyncSync(nfd)));
        return 0;
      };
    };
    const preRun = [...(emscriptenOpts.preRun ?? []), addFsync];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } as typeof emscriptenOpts };
  }
}
