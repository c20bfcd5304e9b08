/**
 * The root of the package, with the directories that are read at run time. `src/` and `dist/` are at the same depth
 * below it. A module in a subdirectory of `src/` is not at the depth of its bundle, so only this module uses
 * `import.meta.url`.
 */
export const ROOT = new URL('../', import.meta.url);

/** The directory of the running code: bundles, or sources in a test. */
export const CODE = new URL('./', import.meta.url);
