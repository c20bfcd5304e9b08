/**
 * Where the directories lie that are read as they stand. `src/` and the bundles in `dist/` are equally deep, a module in a
 * room of `src/` and its bundle are not: this is the only one that asks where it is.
 */
export const ROOT = new URL('../', import.meta.url);

/** Where the code that runs lies: bundles, or sources in a test. */
export const CODE = new URL('./', import.meta.url);
