import { Type } from 'typebox';
import { operation } from '../../http/operation.ts';
import { nullable, stringEnum } from '../../http/schema.ts';
import { CAMPAIGN_STATUSES } from '../../model/vocabulary.ts';
import { Actor, ActorDetail, ActorQuery } from './actors.schema.ts';

const strict = { additionalProperties: false };
const q = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

/**
 * Lists actors by name. `q` is part of one of the names or of the ATT&CK id; `uses` is the name or ATT&CK id
 * of a technique or software that the actor uses.
 */
export const listActors = operation('GET /app/actors', {
  query: Type.Object({ ...ActorQuery.properties, q, uses: q }, strict),
  answer: Type.Object({
    data: Type.Array(Type.Object(Actor.properties)),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
  }),
});

const Report = Type.Object({
  id: Type.String(),
  title: Type.String(),
  url: nullable(Type.String()),
  publishedAt: nullable(Type.String({ format: 'date-time' })),
});

export const readActor = operation('GET /app/actors/:id', {
  answer: Type.Object({
    data: Type.Object({
      ...ActorDetail.properties,
      indicatorCount: Type.Integer(),
      campaigns: Type.Array(
        Type.Object({ id: Type.String(), name: Type.String(), status: stringEnum(CAMPAIGN_STATUSES) }),
      ),
      reports: Type.Array(Report),
    }),
  }),
});
