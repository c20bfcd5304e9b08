import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { idParameter, NO_CACHE, textResponses } from '../../http/api-route.ts';
import { ApiError } from '../../http/errors.ts';
import { isUuid } from '../../http/query-validator.ts';
import { score } from '../../http/schema.ts';
import { slugOf } from '../../model/slug.ts';
import type { SnapshotSource } from '../exports/snapshot.ts';
import type { CommunityRules } from './community-rules.ts';
import { buildBundle } from './sigma.service.ts';

interface Options {
  database: SnapshotSource;
  communityRules: Promise<CommunityRules | null>;
}

/** An answer may be called any of these. */
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/plain'];

const SigmaQuery = Type.Object({
  minConfidence: { ...score({ default: 50, description: 'Of indicators: confidence of at least this.' }) },
});

export const sigmaRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { database, communityRules }) => {
  for (const kind of ['actor', 'campaign'] as const) {
    app.get(
      `/api/sigma/${kind}/:id`,
      {
        config: { access: `${kind}s:read`, mediaTypes: YAML_TYPES, orSession: true },
        schema: {
          operationId: kind === 'actor' ? 'getActorSigma' : 'getCampaignSigma',
          tags: ['Sigma'],
          summary: `Read detection rules for ${kind === 'actor' ? 'an actor' : 'a campaign'}`,
          description:
            'A bundle in YAML, a document a rule: network, file hash and host artifact rules for its indicators, and rules ' +
            'for its techniques. Empty but for a comment where nothing is known to detect. A session of the application ' +
            'does in place of a key.',
          params: idParameter,
          querystring: SigmaQuery,
          response: textResponses('application/yaml', 'The rules.', [400, 404], {
            'X-Rule-Count': { type: 'integer', description: 'How many rules there are.' },
          }),
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        const wanted = { kind, id, minConfidence: request.query.minConfidence };
        const bundle = isUuid(id)
          ? await buildBundle(database, request.viewer, wanted, await communityRules)
          : undefined;
        if (!bundle) throw new ApiError('not_found', `There is no such ${kind}.`);
        return reply
          .headers({
            'cache-control': NO_CACHE,
            'x-rule-count': String(bundle.ruleCount),
            'content-disposition': `attachment; filename="tipline-sigma-${slugOf(bundle.subject.name)}.yml"`,
          })
          .type('application/yaml; charset=utf-8')
          .send(bundle.text);
      },
    );
  }
};
