import { Table } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiResponse } from '../../client/operations.ts';
import { formatNumber, typeName } from '../../parts/format.ts';
import { IndicatorLink, PageLink } from '../../parts/links.tsx';
import { Section } from '../../parts/section.tsx';
import { Note } from '../../parts/text.tsx';
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
        <Note>None.</Note>
      ) : (
        <Table>
          <Table.Tbody>
            {expiring.first.map(({ id, type, defanged, expiresAt }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <IndicatorLink id={id}>{visibleText(defanged)}</IndicatorLink>
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
