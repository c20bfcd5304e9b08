import { useApiQuery } from '../../client/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Page } from '../../parts/page.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Section } from '../../parts/section.tsx';
import { ProviderTable } from './provider-table.tsx';
import { SourceTable } from './source-table.tsx';

export function Sources() {
  const query = useApiQuery('GET /app/sources', {}, () => 10_000);
  return (
    <Page title="Sources" about="Feeds and imports, with their health">
      <QueryResult query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              title="No sources yet"
              hint="Import a file, or add a feed with “tipline sources add”."
            />
          ) : (
            <SourceTable sources={data} />
          )
        }
      </QueryResult>
      <Section title="Providers">
        <ProviderTable />
      </Section>
    </Page>
  );
}
