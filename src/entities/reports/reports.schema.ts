import { Type } from 'typebox';
import { operation } from '../../http/routes.ts';
import { nullable } from '../../http/schema.ts';

export const readReport = operation('GET /app/reports/:id', {
  answer: Type.Object({
    data: Type.Object({
      id: Type.String(),
      title: Type.String(),
      url: nullable(Type.String()),
      publishedAt: nullable(Type.String({ format: 'date-time' })),
    }),
  }),
});
