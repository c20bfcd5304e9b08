// Builds, then runs a command of Tipline in this same process: what npm signals is the server itself.
import { build } from './build.mjs';

await build();
await import('../dist/main.js');
