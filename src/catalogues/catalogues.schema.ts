import { Type } from 'typebox';
import { operation } from '../http/operation.ts';

/** One of what the application lets users choose from. */
const Choice = Type.Object({ name: Type.String(), label: Type.String() });

export const readCatalogues = operation('GET /app/catalogues', {
  answer: Type.Object({ exportFormats: Type.Array(Choice), importFormats: Type.Array(Choice) }),
});
