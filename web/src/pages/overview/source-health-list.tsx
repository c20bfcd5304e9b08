import { Group, Stack, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { useApiQuery } from '../../client/queries.ts';
import { SourceHealth } from '../../parts/health.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Note } from '../../parts/text.tsx';

const MAX_SOURCES = 6;

/** The health of the feeds, failing ones first. */
export function SourceHealthList() {
  const query = useApiQuery('GET /app/sources', {}, () => 60_000);
  return (
    <QueryResult query={query}>
      {({ data }) => {
        const feeds = data.filter(({ isFetched }) => isFetched);
        const failures = ({ enabled, health }: (typeof data)[number]) => (enabled ? health.errorsInARow : -1);
        const shown = [...feeds].sort((a, b) => failures(b) - failures(a)).slice(0, MAX_SOURCES);
        if (feeds.length === 0)
          return (
            <Note>
              No feeds configured. Add one with <code>tipline sources add</code>.
            </Note>
          );
        return (
          <Stack gap="xs">
            {shown.map((source) => (
              <Group key={source.id} justify="space-between" gap="xs">
                <Text size="sm">{visibleText(source.name)}</Text>
                <SourceHealth source={source} />
              </Group>
            ))}
          </Stack>
        );
      }}
    </QueryResult>
  );
}
