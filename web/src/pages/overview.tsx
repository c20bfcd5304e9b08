import { Alert, Group, Paper, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import type { Answer } from '../client/operations.ts';
import { useAnswer } from '../client/queries.ts';
import { Bars } from '../parts/bars.tsx';
import { ProviderHealth, SourceHealth } from '../parts/health.tsx';
import { PageLink } from '../parts/links.tsx';
import { Page } from '../parts/page.tsx';
import { Section } from '../parts/section.tsx';
import { Answered } from '../parts/states.tsx';
import { typeName } from '../parts/type-name.ts';
import { fullTime, number, readable, SEVERITY_BARS, Time, visibleText } from '../parts/words.tsx';

type Found = Answer<'GET /app/overview'>;

export function Overview() {
  const query = useAnswer('GET /app/overview', {}, () => 60_000);
  return (
    <Page title="Overview" about={query.data && `As of ${fullTime(query.data.asOf)}`}>
      <Answered query={query}>{(found) => <Known found={found} />}</Answered>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Sources" actions={<PageLink to="/sources">All</PageLink>}>
          <Sources />
        </Section>
        <Section title="Providers">
          <Providers />
        </Section>
      </SimpleGrid>
    </Page>
  );
}

function Known({ found }: { found: Found }) {
  const { created, expiring } = found;
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <Figure name="Indicators" value={found.indicators} to="/indicators" />
        <Figure
          name="New in the last 24 hours"
          value={created.total}
          to="/indicators"
          search={{ createdSince: created.since }}
        />
        <Figure name="Actors" value={found.actors} to="/actors" />
        <Figure name="Campaigns" value={found.campaigns} to="/campaigns" />
      </SimpleGrid>
      {found.indicators === 0 && (
        <Alert title="No indicators yet">
          <PageLink to="/imports">Import a file</PageLink>, or add a feed with{' '}
          <code>tipline sources add</code>.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 3 }}>
        <Section title="New by type">
          <New count={created.total}>
            <Bars
              bars={created.byType.map(({ type, count }) => ({
                name: type,
                count,
                label: (
                  <PageLink to="/indicators" search={{ type, createdSince: created.since }} inherit>
                    {typeName(type)}
                  </PageLink>
                ),
              }))}
            />
          </New>
        </Section>
        <Section title="New by severity">
          <New count={created.total}>
            <Bars
              bars={created.bySeverity.map(({ severity, count }) => ({
                name: severity,
                count,
                color: SEVERITY_BARS[severity],
                label: (
                  <PageLink to="/indicators" search={{ severity, createdSince: created.since }} inherit>
                    {readable(severity)}
                  </PageLink>
                ),
              }))}
            />
          </New>
        </Section>
        <Section title="Top tags (new indicators)">
          <New count={created.tags.length}>
            <Bars
              bars={created.tags.map(({ tag, count }) => ({
                name: tag,
                count,
                label: (
                  <PageLink
                    to="/indicators"
                    search={{ tag, createdSince: created.since }}
                    inherit
                    style={{ overflowWrap: 'anywhere' }}
                  >
                    {visibleText(tag)}
                  </PageLink>
                ),
              }))}
            />
          </New>
        </Section>
      </SimpleGrid>
      <Section
        title={`Expiring in the next 7 days: ${number(expiring.total)}`}
        actions={
          expiring.total > 0 && (
            <PageLink to="/indicators" search={{ expiresBefore: expiring.until }}>
              All
            </PageLink>
          )
        }
      >
        {expiring.first.length === 0 ? (
          <Text size="sm" c="dimmed">
            None.
          </Text>
        ) : (
          <Table>
            <Table.Tbody>
              {expiring.first.map(({ id, type, defanged, expiresAt }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    <PageLink to="/indicators/$id" params={{ id }} className="value" fz="sm">
                      {visibleText(defanged)}
                    </PageLink>
                  </Table.Td>
                  <Table.Td>{typeName(type)}</Table.Td>
                  <Table.Td>
                    <Time at={expiresAt} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Section>
    </Stack>
  );
}

function New({ count, children }: { count: number; children: React.ReactNode }) {
  if (count > 0) return children;
  return (
    <Text size="sm" c="dimmed">
      No new indicators in the last 24 hours.
    </Text>
  );
}

interface FigureProps {
  name: string;
  value: number;
  to: '/indicators' | '/actors' | '/campaigns';
  search?: Record<string, string>;
}

function Figure({ name, value, to, search }: FigureProps) {
  return (
    <Paper withBorder p="md">
      <Text size="sm" c="dimmed">
        <PageLink to={to} {...(search && { search })} inherit>
          {name}
        </PageLink>
      </Text>
      <Text fz={26} fw={700}>
        {number(value)}
      </Text>
    </Paper>
  );
}

const FEW = 6;

/** Those in trouble first. */
function Sources() {
  const query = useAnswer('GET /app/sources', {}, () => 60_000);
  return (
    <Answered query={query}>
      {({ data }) => {
        const fetched = data.filter(({ isFetched }) => isFetched);
        const trouble = ({ enabled, health }: (typeof data)[number]) => (enabled ? health.errorsInARow : -1);
        const shown = [...fetched].sort((a, b) => trouble(b) - trouble(a)).slice(0, FEW);
        if (fetched.length === 0)
          return (
            <Text size="sm" c="dimmed">
              No feeds configured. Add one with <code>tipline sources add</code>.
            </Text>
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
    </Answered>
  );
}

function Providers() {
  const query = useAnswer('GET /app/providers', {}, () => 60_000);
  return (
    <Answered query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm" c="dimmed">
            No enrichment providers configured. Add one with <code>tipline providers set</code>.
          </Text>
        ) : (
          <Stack gap="xs">
            {data.map((provider) => (
              <Group key={provider.name} justify="space-between" gap="xs">
                <Text size="sm">
                  {provider.name}{' '}
                  <Text span inherit c="dimmed">
                    {number(provider.waiting)} waiting
                  </Text>
                </Text>
                <ProviderHealth provider={provider} />
              </Group>
            ))}
          </Stack>
        )
      }
    </Answered>
  );
}
