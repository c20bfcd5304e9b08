import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerErrorHandler } from '../../src/http/error-handler.ts';

describe('an error of a request', () => {
  const app = fastify();
  beforeAll(async () => {
    registerErrorHandler(app);
    app.get('/:code', ({ params }) => {
      throw Object.assign(new Error('inside'), params);
    });
    await app.ready();
  });
  afterAll(() => app.close());

  const answer = async (code: string) => {
    const { statusCode, headers } = await app.inject(`/${code}`);
    return [statusCode, headers['retry-after'] ?? null];
  };

  it.each(['EMFILE', 'ENFILE', 'ENOSPC', 'ECONNREFUSED', '57P01'])(
    'is temporary when something of the server is used up or down: %s',
    async (code) => {
      expect(await answer(code)).toEqual([503, '5']);
    },
  );

  it.each(['EIO', '23505'])('is of the server otherwise: %s', async (code) => {
    expect(await answer(code)).toEqual([500, null]);
  });
});
