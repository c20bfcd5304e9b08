import { createClient } from '@redis/client';
import { WRITES_NOTHING } from './redis.ts';

/** For connecting, and for each answer: a server that hangs accepts connections, because its system does. */
const ANSWER_MS = 2_000;

export interface RedisFacts {
  version: string;
  /** What it does when its memory is full (`maxmemory-policy`); '' if the user may not ask. */
  policy: string;
  /** The error with which it rejects writes; null: it accepts them. */
  rejection: string | null;
}

/** Reads the facts of a Redis or Valkey, and changes nothing. @throws when it does not answer */
export async function readRedisFacts(url: string): Promise<RedisFacts> {
  const limits = { connectTimeout: ANSWER_MS, socketTimeout: ANSWER_MS };
  const client = createClient({ url, socket: { ...limits, reconnectStrategy: false } });
  client.on('error', () => {});
  await client.connect();
  try {
    const { version } = await client.hello();
    // Users without Redis's dangerous commands may not send INFO.
    const info = await Promise.all([client.info('server'), client.info('memory')]).then(
      (sections) => sections.join('\n'),
      (error: Error) => {
        if (!error.message.startsWith('NOPERM ')) throw error;
        return '';
      },
    );
    const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    const rejection = await client.set('tipline:doctor', '', WRITES_NOTHING).then(
      () => null,
      // Another node of a cluster has the key.
      ({ message }: Error) => (message.startsWith('MOVED ') ? null : message),
    );
    return {
      version: field('valkey_version') || field('redis_version') || version,
      policy: field('maxmemory_policy'),
      rejection,
    };
  } finally {
    client.destroy();
  }
}
