import { Type } from 'typebox';
import { operation } from '../../http/operation.ts';
import { nullable, stringEnum } from '../../http/schema.ts';
import { CAMPAIGN_STATUSES } from '../../model/vocabulary.ts';
import { Actor, ActorDetail, ActorQuery } from './actors.schema.ts';

const strict = { additionalProperties: false };
const q = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

/** By name; `q` is a part of one of its names, or of its ATT&CK id, `uses` the name or ATT&CK id of what it uses. */
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
