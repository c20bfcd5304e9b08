import { createClient } from '@redis/client';

const CONNECT_MS = 2_000;

/** Reads the version of a Redis or Valkey and what it does when its memory is full. @throws when it does not answer */
export async function readRedisFacts(url: string): Promise<{ version: string; policy: string }> {
  const client = createClient({ url, socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false } });
  client.on('error', () => {});
  await client.connect();
  try {
    const info = `${await client.info('server')}\n${await client.info('memory')}`;
    const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    return { version: field('valkey_version') || field('redis_version'), policy: field('maxmemory_policy') };
  } finally {
    client.destroy();
  }
}
