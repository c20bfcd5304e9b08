import { Alert, SimpleGrid, Stack } from '@mantine/core';
import type { ApiResponse } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { formatTime } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { LookupForm } from '../../parts/lookup-form.tsx';
import { Page } from '../../parts/page.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Section } from '../../parts/section.tsx';
import { ExpiringIndicators } from './expiring-indicators.tsx';
import { NewIndicators } from './new-indicators.tsx';
import { ProviderHealthList } from './provider-health-list.tsx';
import { SourceHealthList } from './source-health-list.tsx';
import { StatCard } from './stat-card.tsx';

export function Overview() {
  const query = useApiQuery('GET /app/overview', {}, () => 60_000);
  return (
    <Page title="Overview" about={query.data && `As of ${formatTime(query.data.asOf)}`}>
      <LookupForm />
      <QueryResult query={query}>{(data) => <OverviewContent overview={data} />}</QueryResult>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Sources" actions={<PageLink to="/sources">All</PageLink>}>
          <SourceHealthList />
        </Section>
        <Section title="Providers">
          <ProviderHealthList />
        </Section>
      </SimpleGrid>
    </Page>
  );
}

function OverviewContent({ overview }: { overview: ApiResponse<'GET /app/overview'> }) {
  const { created, expiring } = overview;
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <StatCard name="Indicators" value={overview.indicators} to="/indicators" />
        <StatCard
          name="New in the last 24 hours"
          value={created.total}
          to="/indicators"
          search={{ createdSince: created.since }}
        />
        <StatCard name="Actors" value={overview.actors} to="/actors" />
        <StatCard name="Campaigns" value={overview.campaigns} to="/campaigns" />
      </SimpleGrid>
      {overview.indicators === 0 && (
        <Alert title="No indicators yet">
          <PageLink to="/imports">Import a file</PageLink>, or add a feed with{' '}
          <code>tipline sources add</code>.
        </Alert>
      )}
      <NewIndicators created={created} />
      <ExpiringIndicators expiring={expiring} />
    </Stack>
  );
}
