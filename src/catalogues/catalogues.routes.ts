import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { PRESETS, type Preset } from '../feeds/presets.ts';
import { FORMATS } from '../formats/catalogue.ts';
import { routeOf } from '../http/routes.ts';
import { IMPORTERS } from '../importers/recognize.ts';
import { readCatalogues } from './catalogues.schema.ts';

export async function catalogueRoutes(instance: FastifyInstance): Promise<void> {
  instance.withTypeProvider<TypeBoxTypeProvider>().route({
    ...routeOf(readCatalogues, 'viewer'),
    handler: async () => ({
      exportFormats: Object.entries(FORMATS).map(([name, { label }]) => ({ name, label })),
      importFormats: IMPORTERS.map(({ name, label }) => ({ name, label })),
      feedPresets: Object.entries<Preset>(PRESETS).map(([name, { limit, ...preset }]) => ({
        name,
        ...preset,
        limit: limit?.text ?? null,
      })),
    }),
  });
}
