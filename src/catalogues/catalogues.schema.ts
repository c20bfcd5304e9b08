import { Type } from 'typebox';
import { operation } from '../http/routes.ts';

/** An option that the application offers to users. */
const Choice = Type.Object({ name: Type.String(), label: Type.String() });

export const readCatalogues = operation('GET /app/catalogues', {
  answer: Type.Object({ exportFormats: Type.Array(Choice), importFormats: Type.Array(Choice) }),
});
