import { Table, type TableScrollContainerProps, type TableThProps } from '@mantine/core';
import { isValidElement, type ReactElement, type ReactNode } from 'react';

/** A heading, a heading with the props of its cell, or a complete header cell. `false` omits the column. */
export type Column = string | ({ heading: string } & TableThProps) | ReactElement | false;

interface DataTableProps extends Pick<TableScrollContainerProps, 'minWidth' | 'maxHeight'> {
  /** Names the table for screen readers. */
  label: string;
  columns: Column[];
  verticalSpacing?: 'xs';
  /** The rows. */
  children: ReactNode;
}

/** A table that scrolls within the page, also with the keyboard (WCAG 2.1.1). */
export function DataTable({ label, columns, verticalSpacing, children, ...scroll }: DataTableProps) {
  return (
    <Table.ScrollContainer {...scroll} type="native" tabIndex={0} role="group" aria-label={label}>
      <Table verticalSpacing={verticalSpacing}>
        <Table.Thead>
          <Table.Tr>{columns.map(renderHeader)}</Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function renderHeader(column: Column): ReactNode {
  if (column === false || isValidElement(column)) return column;
  const { heading, ...cell } = typeof column === 'string' ? { heading: column } : column;
  return (
    <Table.Th key={heading} {...cell}>
      {heading}
    </Table.Th>
  );
}

/** Returns columns of numbers, which are aligned to the right. */
export const numericColumns = (...headings: string[]): Column[] =>
  headings.map((heading) => ({ heading, ta: 'right' }));
