import { once } from 'node:events';
import { get as getByHttp, type IncomingMessage } from 'node:http';
import { get as getByHttps } from 'node:https';
import { Command } from 'commander';
import { readConfig, tlsFiles } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { systemReason } from '../model/system-error.ts';
import { UsageError } from './options.ts';
import { localUrl } from './server-process.ts';

/** How long the server may take for its answer. */
const TIMEOUT_MS = 5_000;

export function healthCommand(): Command {
  return new Command('health')
    .description('check that the server of this environment responds, as health checks of containers do')
    .option('--worker', 'check `tipline worker`, on WORKER_PORT')
    .addHelpText('after', '\nExit codes: 0 it responds; 1 it does not; 2 invalid command or configuration.')
    .action(async ({ worker = false }: { worker?: boolean }) => {
      const url = `${addressOf(readConfig(), worker)}/api/health`;
      const status = await statusOf(url);
      if (status !== 200) throw new Error(`${url} returned ${status}.`);
      process.stdout.write(`${url} returned 200.\n`);
    });
}

function addressOf(config: Config, worker: boolean): string {
  const port = worker ? config.workerPort : config.port;
  if (!port) throw new UsageError(`${worker ? 'WORKER_PORT' : 'PORT'} must be set, and not be 0.`);
  return localUrl({ host: config.host, port, secure: tlsFiles(config) !== null });
}

/** Returns the status of a response of this machine; its certificate is for another name and is not verified. */
async function statusOf(url: string): Promise<number | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const request = url.startsWith('https:')
    ? getByHttps(url, { signal, rejectUnauthorized: false })
    : getByHttp(url, { signal });
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  } catch (error) {
    const reason = signal.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : systemReason(error);
    throw new Error(`${url}: ${reason ?? String(error)}.`);
  } finally {
    request.destroy();
  }
}
