import { Anchor, Button, Group, NumberInput, Popover, Spoiler, Stack, Table, Text } from '@mantine/core';
import { IconDownload, IconExternalLink } from '@tabler/icons-react';
import { Fragment, type ReactNode, useState } from 'react';
import { useAnswer } from '../client/queries.ts';
import { PageLink } from './links.tsx';
import { Section } from './section.tsx';
import { Answered } from './states.tsx';
import { typeName } from './type-name.ts';
import { Day, number, SeverityBadge, Time, visibleLines, visibleText } from './words.tsx';

export function Description({ text }: { text: string | null }) {
  if (!text) return null;
  return (
    <Spoiler maxHeight={120} showLabel="Show more" hideLabel="Show less">
      <Text size="sm" maw={900} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {visibleLines(text)}
      </Text>
    </Spoiler>
  );
}

export function FactTable({ rows }: { rows: [string, ReactNode][] }) {
  return (
    <Table variant="vertical" layout="fixed">
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w={130}>{name}</Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface Named {
  id: string;
  attackId: string | null;
  name: string;
}

export function Software({ malware, tools }: { malware: Named[]; tools: Named[] }) {
  const list = (title: string, items: Named[]) =>
    items.length > 0 && (
      <div>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="sm">
          {items.map(({ id, name, attackId }, place) => (
            <Fragment key={id}>
              {place > 0 && ', '}
              <PageLink
                to="/actors"
                search={{ uses: attackId ?? name }}
                inherit
                underline="always"
                title="Actors using this"
              >
                {visibleText(name)}
              </PageLink>
              {attackId && ` (${visibleText(attackId)})`}
            </Fragment>
          ))}
        </Text>
      </div>
    );
  return (
    <Section title="Software">
      <Stack gap="xs">
        {malware.length + tools.length === 0 && (
          <Text size="sm" c="dimmed">
            None known
          </Text>
        )}
        {list('Malware', malware)}
        {list('Tools', tools)}
      </Stack>
    </Section>
  );
}

interface Report {
  id: string;
  title: string;
  url: string | null;
  publishedAt: string | null;
}

/** The address is somebody else's: only what is of the web is a link, and it is told nothing of us. */
export function Reports({ reports }: { reports: Report[] }) {
  if (reports.length === 0) return null;
  return (
    <Section title="Reports">
      <Stack gap={4}>
        {reports.map(({ id, title, url, publishedAt }) => (
          <Group key={id} gap="xs">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              <PageLink
                to="/indicators"
                search={{ reportId: id }}
                inherit
                underline="always"
                title="Indicators in this report"
              >
                {visibleText(title)}
              </PageLink>{' '}
              <Text span inherit c="dimmed">
                <Day at={publishedAt} never="" />
              </Text>
            </Text>
            {url && /^https?:\/\//i.test(url) && (
              <Anchor
                href={url}
                target="_blank"
                rel="noreferrer noopener nofollow"
                size="sm"
                aria-label={`Open ${visibleText(title)}`}
              >
                <IconExternalLink size={14} />
              </Anchor>
            )}
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

/** Rules for what is known of it, as a file. */
export function SigmaDownload({ kind, id }: { kind: 'actor' | 'campaign'; id: string }) {
  const [least, setLeast] = useState<number | string>(50);
  return (
    <Popover withArrow trapFocus position="bottom-end">
      <Popover.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />}>
          Sigma rules
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <NumberInput
            label="Minimum confidence"
            description="Applies to indicator-based rules."
            min={0}
            max={100}
            allowDecimal={false}
            clampBehavior="strict"
            value={least}
            onChange={setLeast}
          />
          <Button
            component="a"
            href={`/api/sigma/${kind}/${id}?minConfidence=${Number(least) || 0}`}
            download
          >
            Download
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

const FEW = 10;

/** The latest of those that are linked, and the way to all. */
export function LinkedIndicators({
  count,
  search,
}: {
  count: number;
  search: { actorId?: string; campaignId?: string };
}) {
  const query = useAnswer('GET /app/indicators', { query: { ...search, pageSize: FEW } });
  return (
    <Section
      title="Indicators"
      actions={
        count > 0 && (
          <PageLink to="/indicators" search={search}>
            All {number(count)}
          </PageLink>
        )
      }
    >
      <Answered query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              No linked indicators
            </Text>
          ) : (
            <Table>
              <Table.Tbody>
                {data.map(({ id, defanged, type, severity, lastSeen }) => (
                  <Table.Tr key={id}>
                    <Table.Td>
                      <PageLink to="/indicators/$id" params={{ id }} className="value" fz="sm">
                        {visibleText(defanged)}
                      </PageLink>
                    </Table.Td>
                    <Table.Td visibleFrom="xs">{typeName(type)}</Table.Td>
                    <Table.Td>
                      <SeverityBadge severity={severity} />
                    </Table.Td>
                    <Table.Td visibleFrom="xs">
                      <Time at={lastSeen} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Answered>
    </Section>
  );
}
