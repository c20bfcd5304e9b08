import { Table, Text } from '@mantine/core';
import type { ApiResponse } from '../../client/operations.ts';
import { formatNumber, typeName, visibleText } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';

type Expiring = ApiResponse<'GET /app/overview'>['expiring'];

/** The indicators that expire next. */
export function ExpiringIndicators({ expiring }: { expiring: Expiring }) {
  return (
    <Section
      title={`Expiring in the next 7 days: ${formatNumber(expiring.total)}`}
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
  );
}
