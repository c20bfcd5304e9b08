import { Button, Code, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import type { ApiItem } from '../../../client/operations.ts';
import { useApiQuery, useHasRole } from '../../../client/queries.ts';
import { TlpBadge } from '../../../parts/badges.tsx';
import { ConfirmButton } from '../../../parts/confirm-button.tsx';
import { DataTable } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { NavigatorDownload } from '../../../parts/navigator-download.tsx';
import { QueryList } from '../../../parts/query-result.tsx';
import { Note, SecondLine } from '../../../parts/text.tsx';
import { Time } from '../../../parts/time.tsx';
import { FeedForm } from './feed-form.tsx';
import { GuardStatus } from './guard-status.tsx';
import { WebhookModal, WebhookState } from './webhook.tsx';

export type Feed = ApiItem<'GET /app/feeds'>;

/** The saved feeds. */
export function Feeds() {
  const query = useApiQuery('GET /app/feeds');
  const isAnalyst = useHasRole('analyst');
  const isAdministrator = useHasRole('administrator');
  const [webhookOf, setWebhookOf] = useState<Feed | null>(null);
  const { feedQuery } = useLocation().state;
  const [editing, setEditing] = useState<Feed | 'new' | null>(feedQuery === undefined ? null : 'new');
  const navigate = useNavigate();
  const close = () => {
    setEditing(null);
    // The filters are for one new feed only.
    if (feedQuery !== undefined)
      void navigate({ to: '/settings/$section', params: { section: 'feeds' }, state: {}, replace: true });
  };
  return (
    <Stack>
      <Group justify="space-between">
        <Note maw={640}>
          Exports with a name, for firewalls and other consumers that poll an address. Bind an API key to a
          feed so that it can read nothing else.
        </Note>
        {isAnalyst && <Button onClick={() => setEditing('new')}>Create feed</Button>}
      </Group>
      <QueryList query={query} empty={<EmptyState title="No feeds yet" />}>
        {({ data }) => (
          <DataTable
            label="Feeds"
            minWidth={800}
            columns={['Feed', 'Format', 'Filters and options', 'TLP ceiling', 'Created by', 'Actions']}
          >
            {data.map((feed) => (
              <Table.Tr key={feed.slug}>
                <Table.Td miw={220} maw={260} style={{ overflowWrap: 'anywhere' }}>
                  <Text size="sm">{visibleText(feed.name)}</Text>
                  <SecondLine>/api/v1/feeds/{feed.slug}</SecondLine>
                  {feed.description && <SecondLine>{visibleText(feed.description)}</SecondLine>}
                  <GuardStatus feed={feed} />
                  <WebhookState webhook={feed.webhook} />
                </Table.Td>
                <Table.Td>{feed.format}</Table.Td>
                <Table.Td miw={200} maw={320}>
                  <Code className="value">{visibleText(feed.query) || 'everything'}</Code>
                </Table.Td>
                <Table.Td>
                  <TlpBadge tlp={feed.tlpCeiling} />
                </Table.Td>
                <Table.Td>
                  <Text size="sm">{visibleText(feed.createdBy)}</Text>
                  <SecondLine>
                    changed <Time at={feed.changedAt} />
                  </SecondLine>
                </Table.Td>
                <Table.Td>
                  <Group gap="xs">
                    <NavigatorDownload href={`/api/v1/feeds/${feed.slug}/navigator`} size="xs" />
                    {isAnalyst && (
                      <Button size="xs" variant="default" onClick={() => setEditing(feed)}>
                        Edit
                      </Button>
                    )}
                    {isAdministrator && (
                      <Button size="xs" variant="default" onClick={() => setWebhookOf(feed)}>
                        Webhook
                      </Button>
                    )}
                    {isAnalyst && <RemoveFeedButton slug={feed.slug} />}
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </QueryList>
      <WebhookModal feed={webhookOf} onClose={() => setWebhookOf(null)} />
      <Modal
        opened={editing !== null}
        onClose={close}
        title={editing === 'new' ? 'Create feed' : 'Edit feed'}
        size="lg"
      >
        {editing && <FeedForm feed={editing === 'new' ? null : editing} query={feedQuery} onClose={close} />}
      </Modal>
    </Stack>
  );
}

function RemoveFeedButton({ slug }: { slug: string }) {
  return (
    <ConfirmButton
      button={{ size: 'xs', children: 'Remove' }}
      title={`Remove ${slug}`}
      action="Remove"
      color="red.9"
      operation="POST /app/feeds/:slug/remove"
      request={() => ({ params: { slug } })}
      onSuccess={() => `Feed ${slug} removed.`}
      withoutReason
    >
      <Text size="sm">Consumers of this address get an error from now on.</Text>
    </ConfirmButton>
  );
}
