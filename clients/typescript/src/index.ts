export { Tipline } from './client.js';
export { Download } from './download.js';
export { TiplineError } from './error.js';
export { VERSION } from './generated/operations.js';
export type * from './generated/types.js';
export type { CachedResponse, CallOptions, DownloadOptions, TiplineOptions } from './transport.js';
