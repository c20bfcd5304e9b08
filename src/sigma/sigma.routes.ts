import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { NavigatorLayer } from '../entities/navigator/navigator.schema.ts';
import { LAYER_HEADERS, sendLayer } from '../entities/navigator/send-layer.ts';
import type { SnapshotSource } from '../exports/snapshot.ts';
import { skippedField } from '../formats/skipped.ts';
import { ApiError } from '../http/errors.ts';
import {
  apiResponses,
  contentResponses,
  FILE_NAME_HEADER,
  idParameter,
  NO_CACHE,
  textContent,
} from '../http/routes.ts';
import { SAMPLE_ACTOR_ID, SAMPLE_CAMPAIGN_ID } from '../http/schema.ts';
import { applicantOf, type Slots } from '../http/slots.ts';
import { slugOf } from '../model/text.ts';
import { isUuid } from '../model/uuid.ts';
import type { CommunityRules } from './community-rules.ts';
import { coverageLayer } from './coverage.ts';
import { countReasons, queriesOf } from './rule-queries.ts';
import { CoverageQuery, RuleQueries, RuleQueriesQuery, SigmaQuery } from './sigma.schema.ts';
import { buildBundle, chooseRules } from './sigma.service.ts';

interface Options {
  database: SnapshotSource;
  communityRules: Promise<CommunityRules | null>;
  /** In which rules are read and written. */
  reading: Slots;
}

/** Media types under which clients may request YAML. */
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/plain'];

const EXAMPLE = `# Sigma rules for the campaign CVE-2023-23397, written by Tipline.
# Rules: 1, one a document.
---
title: CVE-2023-23397 - Network Connection to Known Infrastructure
id: 3ab7330a-cf27-5cef-931b-f548d6e935bf
status: experimental
logsource:
    category: network_connection
    product: windows
detection:
    selection_ipv4:
        DestinationIp: '185.132.17.160'
    condition: selection_ipv4
level: high
`;

export const sigmaRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { database, communityRules, reading },
) => {
  app.get(
    '/api/sigma/navigator',
    {
      config: { access: 'actors:read', allowSession: true },
      schema: {
        operationId: 'getSigmaNavigatorLayer',
        tags: ['Sigma'],
        summary: 'Read the techniques that Sigma rules cover as an ATT&CK Navigator layer',
        description:
          'A layer of the format 4.5 with the techniques for which there are rules, those of Tipline and those of the community that ' +
          'the operator added. The score of a technique is how many rules there are; the comment says whose. A session of the ' +
          'application does in place of a key.',
        querystring: CoverageQuery,
        response: apiResponses(NavigatorLayer, 'The layer.', [400], LAYER_HEADERS),
      },
    },
    async ({ query }, reply) => sendLayer(reply, 'sigma', coverageLayer(query, await communityRules)),
  );

  for (const kind of ['actor', 'campaign'] as const) {
    app.get(
      `/api/sigma/${kind}/:id`,
      {
        config: { access: `${kind}s:read`, mediaTypes: YAML_TYPES, allowSession: true },
        schema: {
          operationId: kind === 'actor' ? 'getActorSigma' : 'getCampaignSigma',
          tags: ['Sigma'],
          summary: `Read detection rules for ${kind === 'actor' ? 'an actor' : 'a campaign'}`,
          description:
            'A bundle in YAML, a document a rule: network, file hash and host artifact rules for its indicators, and rules ' +
            'for its techniques. Only a comment if there are no rules. A session of the application ' +
            'does in place of a key.',
          params: idParameter(kind === 'actor' ? SAMPLE_ACTOR_ID : SAMPLE_CAMPAIGN_ID),
          querystring: SigmaQuery,
          response: contentResponses(textContent('application/yaml', EXAMPLE), 'The rules.', [400, 404], {
            'X-Rule-Count': { type: 'integer', description: 'How many rules there are.' },
            ...FILE_NAME_HEADER,
          }),
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        const { minConfidence, ...filters } = request.query;
        const wanted = { kind, id, minConfidence, filters };
        const community = await communityRules;
        const bundle = isUuid(id)
          ? await reading.run(applicantOf(request), () =>
              buildBundle(database, request.principal, wanted, community),
            )
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

    app.get(
      `/api/sigma/${kind}/:id/queries`,
      {
        config: { access: `${kind}s:read`, allowSession: true },
        schema: {
          operationId: kind === 'actor' ? 'getActorSigmaQueries' : 'getCampaignSigmaQueries',
          tags: ['Sigma'],
          summary: `Read the detection rules for ${kind === 'actor' ? 'an actor' : 'a campaign'} as queries`,
          description:
            'The rules of the bundle in the language of a product, with the names of its tables and fields. A rule that the ' +
            'language cannot express is left out and listed with the reason. A session of the application does in place of a key.',
          params: idParameter(kind === 'actor' ? SAMPLE_ACTOR_ID : SAMPLE_CAMPAIGN_ID),
          querystring: RuleQueriesQuery,
          response: apiResponses(RuleQueries, 'The queries.', [400, 404], {
            'X-Rule-Count': { type: 'integer', description: 'How many queries there are.' },
            'X-Skipped': {
              type: 'string',
              description: 'How many rules are left out in total and, as parameters, by reason (RFC 9651).',
            },
          }),
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        const { minConfidence, language, ...filters } = request.query;
        const wanted = { kind, id, minConfidence, filters };
        const community = await communityRules;
        const queries = isUuid(id)
          ? await reading.run(applicantOf(request), async () => {
              const chosen = await chooseRules(database, request.principal, wanted, community);
              return chosen && queriesOf(chosen, language);
            })
          : undefined;
        if (!queries) throw new ApiError('not_found', `There is no such ${kind}.`);
        return reply
          .headers({
            'cache-control': NO_CACHE,
            'x-rule-count': String(queries.data.length),
            'x-skipped': skippedField(countReasons(queries)),
          })
          .send(queries);
      },
    );
  }
};
