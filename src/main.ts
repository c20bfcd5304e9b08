#!/usr/bin/env node
import { CommanderError } from 'commander';
import { fileProblem, UsageError } from './cli/options.ts';
import { watchStandardOutput } from './cli/output.ts';
import { buildProgram } from './cli/program.ts';
import { ConfigError } from './config/config.ts';

/** Exit codes. 0: success; 1: failure or partial failure; 2: invalid command or configuration. */
const FAILED = 1;
const MISUSED = 2;

// Other users must not access files of this process (data directory, sockets, key files).
process.umask(0o077);

const isReported = watchStandardOutput(FAILED);

try {
  const program = await buildProgram(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has reported the error already. Help and version are such errors too, with exit code 0.
    process.exitCode = error.exitCode === 0 ? 0 : MISUSED;
  } else if (!isReported(error)) {
    const message = fileProblem(error) ?? (error instanceof Error ? error.message : String(error));
    process.stderr.write(`${message}\n`);
    process.exitCode = error instanceof ConfigError || error instanceof UsageError ? MISUSED : FAILED;
  }
}
