import { Type } from 'typebox';
import { instantOrNull, operation } from '../../http/routes.ts';
import { nullable, score, stringEnum } from '../../http/schema.ts';
import { TLPS } from '../../model/vocabulary.ts';
import { Attribute } from '../attributes.ts';

/** Returns a report with what it holds besides indicators: at most the first 500 attributes. */
export const readReport = operation('GET /app/reports/:id', {
  answer: Type.Object({
    data: Type.Object({
      id: Type.String(),
      title: Type.String(),
      description: nullable(Type.String()),
      url: nullable(Type.String()),
      publishedAt: instantOrNull,
      authors: Type.Array(Type.String()),
      links: Type.Array(Type.String()),
      tags: Type.Array(Type.String()),
      tlp: stringEnum(TLPS),
      confidence: score(),
      source: Type.String(),
      attributes: Type.Array(Attribute),
      attributeCount: Type.Integer(),
      indicatorCount: Type.Integer(),
    }),
  }),
});
