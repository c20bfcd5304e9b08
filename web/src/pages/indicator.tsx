import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  SimpleGrid,
  Spoiler,
  Stack,
  Table,
  Text,
  Timeline,
} from '@mantine/core';
import { IconEyeOff, IconRefresh } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import type { Answer } from '../client/operations.ts';
import { useAccount, useAnswer, useChange } from '../client/queries.ts';
import { CopyForms } from '../parts/copy.tsx';
import { History } from '../parts/history.tsx';
import { PageLink } from '../parts/links.tsx';
import { Page } from '../parts/page.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Section } from '../parts/section.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { TagList } from '../parts/tags.tsx';
import { typeName } from '../parts/type-name.ts';
import {
  Day,
  fullTime,
  plural,
  readable,
  relative,
  SeverityBadge,
  Time,
  TlpBadge,
  VerdictBadge,
  visibleLines,
  visibleText,
} from '../parts/words.tsx';
import { may } from '../shell/shell.tsx';
import { Confidence } from './indicator-confidence.tsx';
import { Hiding } from './indicator-hiding.tsx';

export type Detail = Answer<'GET /app/indicators/:id'>['data'];

/** While a provider is yet to answer. */
const LOOK_AGAIN_MS = 3_000;

export function Indicator() {
  const { id } = useParams({ from: '/shell/indicators/$id' });
  const query = useAnswer('GET /app/indicators/:id', { params: { id } }, (answer) =>
    answer && answer.data.pendingProviders.length > 0 ? LOOK_AGAIN_MS : false,
  );
  return (
    <Answered query={query} page="Indicator">
      {({ data }) => <Known key={data.id} indicator={data} />}
    </Answered>
  );
}

function Known({ indicator }: { indicator: Detail }) {
  const account = useAccount();
  const isAnalyst = may(account.role, 'analyst');
  return (
    <Page
      title={visibleText(indicator.defanged)}
      about={
        <Group gap="xs" mt={4}>
          <Text span inherit>
            {typeName(indicator.type)}
          </Text>
          <SeverityBadge severity={indicator.severity} />
          <TlpBadge tlp={indicator.tlp} />
          {!indicator.forDetection && <Badge color="gray">Not for detection</Badge>}
        </Group>
      }
      actions={
        <Group gap={4}>
          <CopyForms value={indicator.value} defanged={indicator.defanged} />
          {isAnalyst && <Hiding indicator={indicator} />}
        </Group>
      }
    >
      <Hidden indicator={indicator} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Confidence indicator={indicator} canPin={isAnalyst} />
        <Details indicator={indicator} />
      </SimpleGrid>
      <Enrichments indicator={indicator} canAsk={isAnalyst} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Linked indicator={indicator} />
        <Seen indicator={indicator} />
      </SimpleGrid>
      <SourceTable indicator={indicator} />
      {isAnalyst && (
        <Section title="History">
          <History indicatorId={indicator.id} />
        </Section>
      )}
    </Page>
  );
}

function Hidden({ indicator: { suppressedBy, expired, expiresAt } }: { indicator: Detail }) {
  if (!suppressedBy && !expired) return null;
  return (
    <Alert color="yellow" icon={<IconEyeOff />} title="Hidden from API, exports and rules">
      {suppressedBy?.entry === null && (
        <Text size="sm">Hidden by a whitelist entry above your TLP ceiling.</Text>
      )}
      {suppressedBy && suppressedBy.entry !== null && (
        <Text size="sm">
          The whitelist entry <Code className="value">{visibleText(suppressedBy.entry)}</Code>{' '}
          {suppressedBy.list === null
            ? `hides it, added by ${suppressedBy.addedBy ?? 'somebody'}: ${visibleText(suppressedBy.reason ?? '')}`
            : `of the list “${visibleText(suppressedBy.list)}” hides it. An operator switches a list off with “tipline whitelist disable”.`}
        </Text>
      )}
      {expired && expiresAt && <Text size="sm">Expired {relative(expiresAt)}.</Text>}
    </Alert>
  );
}

function Details({ indicator }: { indicator: Detail }) {
  const rows: [string, React.ReactNode][] = [
    [
      'Value',
      <Text key="v" span inherit className="value">
        {visibleText(indicator.value)}
      </Text>,
    ],
    ['First seen', <Time key="f" at={indicator.firstSeen} />],
    ['Last seen', <Time key="l" at={indicator.lastSeen} />],
    ['Expires', <Time key="e" at={indicator.expiresAt} />],
    ['Added', <Time key="c" at={indicator.createdAt} />],
    ['Tags', indicator.tags.length > 0 ? <TagList key="t" tags={indicator.tags} /> : '–'],
    [
      'External IDs',
      indicator.externalIds.length > 0 ? (
        <Spoiler key="x" maxHeight={44} showLabel="All" hideLabel="Show fewer">
          {indicator.externalIds.map((id) => (
            <Text key={id} size="xs" className="value">
              {visibleText(id)}
            </Text>
          ))}
        </Spoiler>
      ) : (
        '–'
      ),
    ],
  ];
  return (
    <Section title="Details">
      <Table variant="vertical" layout="fixed">
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={130}>{name}</Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  );
}

/** Why nobody was asked. */
function refusal({ suppressedBy, expired, pendingProviders }: Detail): string {
  if (suppressedBy || expired) return 'Not sent: hidden indicators are never shared with providers.';
  if (pendingProviders.length > 0) return `Already queued: ${pendingProviders.join(', ')}.`;
  return 'No provider supports this type or TLP.';
}

function Enrichments({ indicator, canAsk }: { indicator: Detail; canAsk: boolean }) {
  const ask = useChange('POST /app/indicators/:id/enrich', ({ providers }) =>
    providers.length > 0 ? `Queued: ${providers.join(', ')}.` : refusal(indicator),
  );
  const { verdict, maxScore, providerCount } = indicator.enrichmentSummary;
  return (
    <Section
      title="Enrichments"
      actions={
        canAsk && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={14} />}
            loading={ask.isPending}
            onClick={() => ask.mutate({ params: { id: indicator.id } })}
          >
            Enrich now
          </Button>
        )
      }
    >
      <Group gap="xs" mb="sm">
        <VerdictBadge verdict={verdict} />
        <Text size="sm">
          {maxScore === null
            ? 'No verdict yet'
            : `Highest score ${maxScore} (${plural(providerCount, 'provider')} responded)`}
        </Text>
        {indicator.pendingProviders.length > 0 && (
          <Text size="sm" c="dimmed" role="status">
            Queued: {indicator.pendingProviders.join(', ')}…
          </Text>
        )}
      </Group>
      {indicator.enrichments.length === 0 ? (
        <Text size="sm" c="dimmed">
          Not enriched yet
        </Text>
      ) : (
        <Stack gap="sm">
          {indicator.enrichments.map((one) => (
            <div key={one.provider}>
              <Group gap="xs">
                <Text fw={600} size="sm">
                  {one.provider}
                </Text>
                <VerdictBadge verdict={one.verdict} />
                {one.score !== null && <Text size="sm">score {one.score}</Text>}
                <Text size="sm" c="dimmed">
                  queried <Time at={one.fetchedAt} />, {one.fresh ? 'fresh' : 'stale'}
                </Text>
              </Group>
              {one.error ? (
                <Text size="sm" c="red">
                  Lookup failed: {visibleText(one.error)}
                </Text>
              ) : (
                <details>
                  <Text component="summary" size="sm" style={{ cursor: 'pointer' }}>
                    Raw response
                  </Text>
                  <Code block mah={400} style={{ overflow: 'auto' }} tabIndex={0}>
                    {visibleLines(JSON.stringify(one.raw, null, 2))}
                  </Code>
                </details>
              )}
            </div>
          ))}
        </Stack>
      )}
    </Section>
  );
}

function Linked({ indicator: { actors, campaigns, reports } }: { indicator: Detail }) {
  const none = actors.length + campaigns.length + reports.length === 0;
  return (
    <Section title="Related">
      {none && (
        <Text size="sm" c="dimmed">
          No related actors, campaigns or reports
        </Text>
      )}
      <Stack gap="xs">
        {actors.map(({ id, name, attackGroupId, country, motivation }) => (
          <Text key={id} size="sm">
            <PageLink to="/actors/$id" params={{ id }}>
              {visibleText(name)}
            </PageLink>{' '}
            <Text span inherit c="dimmed">
              actor · {[attackGroupId, country, readable(motivation)].filter(Boolean).join(' · ')}
            </Text>
          </Text>
        ))}
        {campaigns.map(({ id, name, status }) => (
          <Text key={id} size="sm">
            <PageLink to="/campaigns/$id" params={{ id }}>
              {visibleText(name)}
            </PageLink>{' '}
            <Text span inherit c="dimmed">
              campaign · {readable(status)}
            </Text>
          </Text>
        ))}
        {reports.map(({ id, title, publishedAt, tlp }) => (
          <Group key={id} gap="xs">
            <Text size="sm">
              <PageLink
                to="/indicators"
                search={{ reportId: id }}
                underline="always"
                title="Indicators in this report"
              >
                {visibleText(title)}
              </PageLink>{' '}
              <Text span inherit c="dimmed">
                report
                {publishedAt && (
                  <>
                    {' '}
                    · <Day at={publishedAt} />
                  </>
                )}
              </Text>
            </Text>
            <TlpBadge tlp={tlp} />
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

/** What happened to it, in order. */
function eventsOf({ sources, enrichments, firstSeen, lastSeen, expiresAt, createdAt }: Detail) {
  const moments = [
    { at: firstSeen, what: 'First seen' },
    { at: lastSeen, what: 'Last seen' },
    { at: createdAt, what: 'Added' },
    ...(expiresAt ? [{ at: expiresAt, what: 'Expires' }] : []),
    ...sources.map(({ importedAt, source }) => ({
      at: importedAt,
      what: `First reported by ${visibleText(source)}`,
    })),
    ...sources.flatMap(({ leftAt, source }) =>
      leftAt ? [{ at: leftAt, what: `Removed from feed ${visibleText(source)}` }] : [],
    ),
    ...enrichments.map(({ fetchedAt, provider, verdict, error }) => ({
      at: fetchedAt,
      what: `${provider} ${error ? 'failed' : `answered ${readable(verdict).toLowerCase()}`}`,
    })),
  ];
  return moments.sort((a, b) => (a.at < b.at ? 1 : -1));
}

function Seen({ indicator }: { indicator: Detail }) {
  return (
    <Section title="Activity">
      <Timeline bulletSize={12} lineWidth={2}>
        {eventsOf(indicator).map(({ at, what }) => (
          <Timeline.Item key={`${at} ${what}`} title={<Text size="sm">{what}</Text>}>
            <Text size="xs" c="dimmed">
              {fullTime(at)} · {relative(at)}
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  );
}

function SourceTable({ indicator: { sources } }: { indicator: Detail }) {
  return (
    <Section title="Sources">
      {sources.length === 0 ? (
        <Nothing title="No visible source reports this indicator" />
      ) : (
        <ScrollTable label="Sources" minWidth={700}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Source</Table.Th>
                <Table.Th>Confidence</Table.Th>
                <Table.Th>Severity</Table.Th>
                <Table.Th>TLP</Table.Th>
                <Table.Th>Tags</Table.Th>
                <Table.Th>First seen</Table.Th>
                <Table.Th>Last seen</Table.Th>
                <Table.Th>Reported</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {sources.map((one) => (
                <Table.Tr key={one.sourceId}>
                  <Table.Td>
                    <PageLink to="/indicators" search={{ sourceId: one.sourceId }} fz="sm">
                      {visibleText(one.source)}
                    </PageLink>
                  </Table.Td>
                  <Table.Td>{one.confidence ?? <>{one.defaultConfidence} (source default)</>}</Table.Td>
                  <Table.Td>{one.severity ? <SeverityBadge severity={one.severity} /> : '–'}</Table.Td>
                  <Table.Td>
                    <TlpBadge tlp={one.tlp} />
                  </Table.Td>
                  <Table.Td>
                    <TagList tags={one.tags} most={5} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={one.firstSeen} never="–" />
                  </Table.Td>
                  <Table.Td>
                    <Time at={one.lastSeen} never="–" />
                  </Table.Td>
                  <Table.Td>
                    <Time at={one.statedAt ?? one.importedAt} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollTable>
      )}
    </Section>
  );
}
