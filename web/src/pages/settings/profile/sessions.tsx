import { Button, Table } from '@mantine/core';
import { useState } from 'react';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import { useApiMutation, useApiQuery } from '../../../client/queries.ts';
import { signOut } from '../../../client/sign-out.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import { formatTime } from '../../../parts/format.ts';
import { QueryResult } from '../../../parts/query-result.tsx';
import { RowButton } from '../../../parts/row-button.tsx';
import { Section } from '../../../parts/section.tsx';

export function Sessions({ ownId }: { ownId: string }) {
  const query = useApiQuery('GET /app/sessions');
  const end = useApiMutation('DELETE /app/sessions/:id', () => 'Session signed out.');
  // Set with the click, until the list lacks the session: a double click would end it twice.
  const [endingId, setEndingId] = useState<string | null>(null);
  const endOne = (id: string) => {
    setEndingId(id);
    end.mutate({ params: { id } }, { onError: () => setEndingId(null) });
  };
  return (
    <Section
      title="Sessions"
      actions={
        <Button size="xs" variant="default" onClick={() => void signOut('POST /app/sign-out-everywhere')}>
          Sign out everywhere
        </Button>
      }
    >
      <QueryResult query={query}>
        {({ data }) => (
          <DataTable
            label="Sessions"
            minWidth={560}
            columns={['IP address', 'Browser', 'Signed in', 'Expires', 'End']}
          >
            {data.map((session) => (
              <Table.Tr key={session.id}>
                <Table.Td>{session.address ?? '–'}</Table.Td>
                <Table.Td maw={280} style={{ overflowWrap: 'anywhere' }}>
                  {visibleText(session.userAgent ?? '–')}
                </Table.Td>
                <Table.Td>{formatTime(session.createdAt)}</Table.Td>
                <Table.Td>{formatTime(session.expiresAt)}</Table.Td>
                <Table.Td>
                  {session.id === ownId ? (
                    'This session'
                  ) : (
                    <RowButton onClick={() => endOne(session.id)} disabled={session.id === endingId}>
                      End
                    </RowButton>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </QueryResult>
    </Section>
  );
}
