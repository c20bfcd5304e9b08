import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler';

const serializers = SerializerSelector();

/**
 * Compiles what writes an answer of a route when the first one is written. Fastify would compile those of all routes and
 * statuses before it listens, a fifth of a start.
 */
export const lazySerializers: SerializerFactory = (schemas, options) => (route) => {
  let serialize: ((answer: unknown) => string) | undefined;
  return (answer) => {
    // A compiler leaves a schema that it has compiled by its name out of those that others may refer to.
    serialize ??= serializers(schemas, options)(route);
    return serialize(answer);
  };
};
