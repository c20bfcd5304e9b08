import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { systemReason } from '../model/system-error.ts';

/**
 * Starts listening.
 * @param setting the name of the port's setting, for error messages
 * @returns the URL of the server for users, http://host:port
 */
export async function listen(
  app: FastifyInstance,
  { host, port, setting }: { host: string; port: number; setting: string },
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const reason = systemReason(error);
    if (reason === undefined) throw error;
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new Error(`Port ${port} on ${host} is in use already. Choose another with ${setting}.`);
    throw new Error(`Cannot listen on HOST ${host}, ${setting} ${port}: ${reason}.`);
  }
  return addressFor(host, (app.server.address() as AddressInfo).port);
}

function addressFor(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
