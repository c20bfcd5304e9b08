import { useParams } from '@tanstack/react-router';
import { visibleText } from '../../../src/model/visible-text.ts';
import type { ApiResponse } from '../client/operations.ts';
import { useApiQuery } from '../client/queries.ts';
import { CampaignStatusBadge } from '../parts/badges.tsx';
import { EntityPage } from '../parts/entity-page.tsx';
import { EntityLine } from '../parts/links.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Section } from '../parts/section.tsx';
import { Note } from '../parts/text.tsx';
import { Day } from '../parts/time.tsx';

export function Campaign() {
  const { id } = useParams({ from: '/shell/campaigns/$id' });
  const query = useApiQuery('GET /app/campaigns/:id', { params: { id } });
  return (
    <QueryResult query={query} page="Campaign">
      {({ data }) => <CampaignDetails key={data.id} campaign={data} />}
    </QueryResult>
  );
}

function CampaignDetails({ campaign }: { campaign: ApiResponse<'GET /app/campaigns/:id'>['data'] }) {
  return (
    <EntityPage
      kind="campaign"
      entity={campaign}
      badges={<CampaignStatusBadge status={campaign.status} />}
      details={[
        ['Also known as', campaign.aliases.map(visibleText).join(', ') || '–'],
        ['Start', <Day key="s" at={campaign.startDate} />],
        ['End', <Day key="e" at={campaign.endDate} />],
      ]}
      beside={
        <Section title="Actors">
          {campaign.actors.length === 0 && <Note>No attributed actors</Note>}
          {campaign.actors.map((actor) => (
            <EntityLine key={actor.id} to="/actors/$id" entity={actor}>
              {actor.attackGroupId}
            </EntityLine>
          ))}
        </Section>
      }
    />
  );
}
