// Builds, then runs a command of Tipline in this same process: what npm signals is the server itself. What builds is another
// process, so that none of it stays in the server's memory.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const build = fileURLToPath(new URL('build.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [build], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
await import('../dist/main.js');
