#!/usr/bin/env node
import { CommanderError } from 'commander';
import { fileProblem } from './cli/file-problem.ts';
import { buildProgram } from './cli/program.ts';
import { UsageError } from './cli/usage-error.ts';
import { ConfigError } from './config.ts';
import { systemReason } from './model/system-error.ts';

/** 0: done; 1: it could not be done, or not wholly; 2: the command or the configuration is wrong. */
const FAILED = 1;
const MISUSED = 2;

// What is written (data directory, sockets, key files) is for this user alone.
process.umask(0o077);

let outputError: unknown;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough (`tipline … | head`) is no failure.
  if (error.code === 'EPIPE') process.exit(0);
  process.exitCode = FAILED;
  if (outputError === undefined)
    process.stderr.write(`Standard output cannot be written: ${systemReason(error) ?? error.message}.\n`);
  outputError = error;
});

try {
  const program = await buildProgram(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong already; asking for help is not wrong.
    process.exitCode = error.exitCode === 0 ? 0 : MISUSED;
  } else if (error !== outputError) {
    const message = fileProblem(error) ?? (error instanceof Error ? error.message : String(error));
    process.stderr.write(`${message}\n`);
    process.exitCode = error instanceof ConfigError || error instanceof UsageError ? MISUSED : FAILED;
  }
}
