#!/usr/bin/env node
import { CommanderError } from 'commander';
import { fileProblem } from './cli/file-problem.ts';
import { buildProgram } from './cli/program.ts';
import { watchStandardOutput } from './cli/standard-output.ts';
import { UsageError } from './cli/usage-error.ts';
import { ConfigError } from './config/config.ts';

/** 0: done; 1: it could not be done, or not wholly; 2: the command or the configuration is wrong. */
const FAILED = 1;
const MISUSED = 2;

// What is written (data directory, sockets, key files) is for this user alone.
process.umask(0o077);

const isReported = watchStandardOutput(FAILED);

try {
  const program = await buildProgram(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong already; asking for help is not wrong.
    process.exitCode = error.exitCode === 0 ? 0 : MISUSED;
  } else if (!isReported(error)) {
    const message = fileProblem(error) ?? (error instanceof Error ? error.message : String(error));
    process.stderr.write(`${message}\n`);
    process.exitCode = error instanceof ConfigError || error instanceof UsageError ? MISUSED : FAILED;
  }
}
