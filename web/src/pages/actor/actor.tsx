import { useParams } from '@tanstack/react-router';
import type { ApiResponse } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { ActivityBadge } from '../../parts/badges.tsx';
import { EntityPage } from '../../parts/entity-page.tsx';
import { sentenceCase } from '../../parts/format.ts';
import { EntityLine } from '../../parts/links.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Section } from '../../parts/section.tsx';
import { Note } from '../../parts/text.tsx';
import { Day } from '../../parts/time.tsx';
import { AliasTable } from './alias-table.tsx';

export function Actor() {
  const { id } = useParams({ from: '/shell/actors/$id' });
  const query = useApiQuery('GET /app/actors/:id', { params: { id } });
  return (
    <QueryResult query={query} page="Actor">
      {({ data }) => <ActorDetails key={data.id} actor={data} />}
    </QueryResult>
  );
}

function ActorDetails({ actor }: { actor: ApiResponse<'GET /app/actors/:id'>['data'] }) {
  return (
    <EntityPage
      kind="actor"
      entity={actor}
      badges={
        <>
          {actor.attackGroupId && <span>{actor.attackGroupId}</span>}
          <ActivityBadge active={actor.active} />
        </>
      }
      details={[
        ['Motivation', sentenceCase(actor.motivation)],
        ['Sophistication', actor.sophistication ? sentenceCase(actor.sophistication) : '–'],
        ['Country', actor.country ?? '–'],
        ['First seen', <Day key="f" at={actor.firstSeen} />],
        ['Last seen', <Day key="l" at={actor.lastSeen} />],
      ]}
      beside={
        <Section title="Also known as">
          <AliasTable aliases={actor.aliases} />
        </Section>
      }
      besideSoftware={
        <Section title="Campaigns">
          {actor.campaigns.length === 0 && <Note>None known</Note>}
          {actor.campaigns.map((campaign) => (
            <EntityLine key={campaign.id} to="/campaigns/$id" entity={campaign}>
              {sentenceCase(campaign.status)}
            </EntityLine>
          ))}
        </Section>
      }
    />
  );
}
