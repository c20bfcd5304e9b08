import { Button, Group, Select, Table, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { INDICATOR_TYPES, type IndicatorType } from '../../../src/model/vocabulary.ts';
import { useAnswer, useChange } from '../client/queries.ts';
import { ReasonModal } from '../parts/confirm.tsx';
import { PageLink } from '../parts/links.tsx';
import { Page } from '../parts/page.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { typeName } from '../parts/type-name.ts';
import { plural, Time, visibleText } from '../parts/words.tsx';

export function Whitelist() {
  const query = useAnswer('GET /app/whitelist');
  const [adding, modal] = useDisclosure(false);
  return (
    <Page
      title="Whitelist"
      about={
        <>
          Entries that analysts added. See “tipline whitelist list” for the bundled lists.{' '}
          <PageLink to="/indicators" search={{ state: 'whitelisted' }} underline="always">
            View hidden indicators
          </PageLink>
        </>
      }
      actions={<Button onClick={modal.open}>Add entry</Button>}
    >
      <Answered query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Nothing title="No entries yet" hint="Add your own networks, domains and addresses." />
          ) : (
            <ScrollTable label="Entries" minWidth={720}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Entry</Table.Th>
                    <Table.Th>Types</Table.Th>
                    <Table.Th>Reason</Table.Th>
                    <Table.Th>Added</Table.Th>
                    <Table.Th>Remove</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map((entry) => (
                    <Table.Tr key={entry.id}>
                      <Table.Td className="value">{visibleText(entry.entry)}</Table.Td>
                      <Table.Td>
                        {entry.types.length > 0 ? entry.types.map(typeName).join(', ') : entry.kind}
                      </Table.Td>
                      <Table.Td maw={300}>{visibleText(entry.reason ?? '')}</Table.Td>
                      <Table.Td>
                        <Text size="sm">{visibleText(entry.addedBy)}</Text>
                        <Text size="xs" c="dimmed">
                          <Time at={entry.addedAt} />
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <Remove id={entry.id} entry={entry.entry} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </ScrollTable>
          )
        }
      </Answered>
      <Add opened={adding} onClose={modal.close} />
    </Page>
  );
}

function Add({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const [entry, setEntry] = useState('');
  const [type, setType] = useState<IndicatorType | null>(null);
  const add = useChange('POST /app/whitelist', ({ changed }) => {
    setEntry('');
    onClose();
    return `Entry added. ${plural(changed, 'indicator')} hidden.`;
  });
  return (
    <ReasonModal
      title="Add whitelist entry"
      action="Add"
      opened={opened}
      onClose={onClose}
      busy={add.isPending}
      onConfirm={(reason) => add.mutate({ body: { entry, reason, ...(type && { type }) } })}
    >
      <TextInput
        label="Entry"
        description="An address, network (198.51.100.0/24), domain (includes subdomains) or value."
        required
        value={entry}
        onChange={(event) => setEntry(event.currentTarget.value)}
      />
      <Select
        label="Type"
        description="Leave empty to detect"
        placeholder="Auto-detect"
        data={INDICATOR_TYPES.map((value) => ({ value, label: typeName(value) }))}
        value={type}
        onChange={(value) => setType(value as IndicatorType | null)}
        clearable
      />
    </ReasonModal>
  );
}

function Remove({ id, entry }: { id: string; entry: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  const remove = useChange('POST /app/whitelist/:id/remove', ({ changed }) => {
    close();
    return `Taken back: ${plural(changed, 'indicator')} shown again.`;
  });
  return (
    <Group>
      <Button size="compact-xs" variant="default" onClick={open} aria-label={`Remove ${visibleText(entry)}`}>
        Remove
      </Button>
      <ReasonModal
        title="Remove whitelist entry"
        action="Remove"
        opened={opened}
        onClose={close}
        busy={remove.isPending}
        onConfirm={(reason) => remove.mutate({ params: { id }, body: { reason } })}
      >
        <Text size="sm" className="value">
          {visibleText(entry)}
        </Text>
      </ReasonModal>
    </Group>
  );
}
