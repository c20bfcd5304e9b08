import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { lazySerializers } from '../../src/http/routes.ts';

const ITEM = {
  $id: 'Item',
  type: 'object',
  properties: { name: { type: 'string' } },
  additionalProperties: false,
};
const LIST = {
  $id: 'List',
  type: 'object',
  properties: { items: { type: 'array', items: { $ref: 'Item#' } } },
};

function service() {
  const app = Fastify({ schemaController: { compilersFactory: { buildSerializer: lazySerializers } } });
  app.addSchema(ITEM).addSchema(LIST);
  const item = { name: 'one', internal: 'not declared' };
  app.get('/item', { schema: { response: { 200: ITEM } } }, () => item);
  app.get('/list', { schema: { response: { 200: LIST } } }, () => ({ items: [item] }));
  return app;
}

describe('lazily compiled serializers', () => {
  it.each(['/item', '/list'])('serialize by the schema, with %s requested first', async (first) => {
    const app = service();
    for (const path of [first, '/item', '/list']) {
      const { body } = await app.inject(path);
      expect(body).toBe(path === '/item' ? '{"name":"one"}' : '{"items":[{"name":"one"}]}');
    }
  });

  it('are not compiled at startup', async () => {
    const app = Fastify({ schemaController: { compilersFactory: { buildSerializer: lazySerializers } } });
    app.get('/', { schema: { response: { 200: { $ref: 'Nobody#' } } } }, () => ({}));
    await app.ready();
    expect((await app.inject('/')).statusCode).toBe(500);
  });
});
