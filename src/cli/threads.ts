import { importersInThreads } from '../importers/parser-threads.ts';
import { readingInThreads } from '../lookup/reading-threads.ts';
import { CODE } from '../root.ts';

/** Opens an importer on a worker thread. */
export const openImporter = importersInThreads(new URL('parser-thread.js', CODE));

/** Reads the values of bulk look-ups on worker threads. */
export const readTexts = readingInThreads(new URL('reading-thread.js', CODE));
