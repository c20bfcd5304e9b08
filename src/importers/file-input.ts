import { createReadStream } from 'node:fs';
import type { ImportInput } from './importer.ts';

/** A file to import. Importers may open it more than once. */
export interface FileInput extends ImportInput {
  path: string;
  /** Receives the number of bytes of the file that have been read since it was last opened. */
  onProgress?: ((bytes: number) => void) | undefined;
}

export function fileInput(file: Omit<FileInput, 'open'>): FileInput {
  return {
    ...file,
    open() {
      const stream = createReadStream(file.path);
      let bytes = 0;
      stream.on('data', (chunk) => {
        bytes += chunk.length;
        file.onProgress?.(bytes);
      });
      // The listener must not set the stream flowing before its reader is there.
      return stream.pause();
    },
  };
}
