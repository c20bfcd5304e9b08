import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler';

const serializers = SerializerSelector();

/**
 * Compiles the serializer of a response at its first use. Fastify would compile those of all routes and statuses
 * before it listens, which takes a fifth of the start-up time.
 */
export const lazySerializers: SerializerFactory = (schemas, options) => (route) => {
  let serialize: ((answer: unknown) => string) | undefined;
  return (answer) => {
    // A compiler that has compiled a named schema removes it from the schemas that later ones can refer to, so each
    // serializer gets its own compiler.
    serialize ??= serializers(schemas, options)(route);
    return serialize(answer);
  };
};
