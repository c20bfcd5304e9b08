import { useApiQuery } from '../../client/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Page } from '../../parts/page.tsx';
import { QueryList } from '../../parts/query-result.tsx';
import { Section } from '../../parts/section.tsx';
import { ProviderTable } from './provider-table.tsx';
import { SourceTable } from './source-table.tsx';

export function Sources() {
  const query = useApiQuery('GET /app/sources', {}, () => 10_000);
  return (
    <Page title="Sources" about="Feeds and imports, with their health">
      <QueryList
        query={query}
        empty={
          <EmptyState
            title="No sources yet"
            hint="Import a file, or add a feed with “tipline sources add”."
          />
        }
      >
        {({ data }) => <SourceTable sources={data} />}
      </QueryList>
      <Section title="Providers">
        <ProviderTable />
      </Section>
    </Page>
  );
}
