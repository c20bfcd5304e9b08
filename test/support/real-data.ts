import { resolve } from 'node:path';

/**
 * A directory of real files of many publishers, which are too big for the repository: what `REAL_DATA` names. Empty: none
 * was given, and the tests that read it are left out.
 */
export const REAL_DATA = process.env.REAL_DATA ? resolve(process.env.REAL_DATA) : '';
