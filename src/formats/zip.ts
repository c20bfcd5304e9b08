import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** A file of an archive, with its text in pieces. */
export interface ArchiveFile {
  name: string;
  pieces: AsyncIterable<string>;
}

/** The time of every file, so that the same files give the same bytes; the earliest that the format can hold. */
const FILE_OPTIONS = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true, mode: 0o100644 };

/**
 * Yields a zip archive of files, one after the other: each is read to its end before the next is requested, and none is
 * held in memory. When the reader stops early, the files are closed.
 * @param directory of all files in the archive, with a slash at its end
 */
export async function* zipArchive(
  directory: string,
  files: AsyncIterable<ArchiveFile>,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  let text: Readable | undefined;
  let isStopped = false;
  const add = async () => {
    for await (const { name, pieces } of files) {
      if (isStopped) return;
      text = Readable.from(pieces);
      zip.addReadStream(text, directory + name, FILE_OPTIONS);
      await finished(text);
    }
    zip.end();
  };
  zip.on('error', (error: Error) => output.destroy(error));
  const added = add().catch((error: Error) => output.destroy(error));
  try {
    for await (const bytes of output) yield bytes as Uint8Array;
  } finally {
    isStopped = true;
    text?.destroy();
    await added;
  }
}
