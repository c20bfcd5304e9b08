import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Exit, type Running, start } from '../support/processes.ts';

/** The Python client of this tree. */
export const PYTHON_CLIENT = fileURLToPath(new URL('../../clients/python/', import.meta.url));

export const hasPython = (() => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** An interpreter in which the client is installed; otherwise the client of this tree is tested. */
const installed = process.env.PYTHON_CLIENT;

/** Starts Python with the client. */
export function startPython(
  args: string[],
  options: { env?: Record<string, string>; cwd?: string; input?: string } = {},
): Running {
  const env = {
    ...(installed === undefined && { PYTHONPATH: `${PYTHON_CLIENT}src` }),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONWARNINGS: 'error',
    ...options.env,
  };
  return start(installed ?? 'python3', args, { ...options, env });
}

/** Runs Python with the client, to its end. */
export const python = (...args: Parameters<typeof startPython>): Promise<Exit> => startPython(...args).exit;
