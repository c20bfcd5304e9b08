import { Group, Pagination } from '@mantine/core';
import { formatNumber } from './format.ts';
import { Note } from './text.tsx';

interface PagingProps {
  page: number;
  pageSize: number;
  total: number;
  onChange(page: number): void;
}

/** The range of the visible rows, and the pagination. */
export function Paging({ page, pageSize, total, onChange }: PagingProps) {
  const first = (page - 1) * pageSize + 1;
  const last = Math.min(page * pageSize, total);
  const pages = Math.ceil(total / pageSize);
  return (
    <Group justify="space-between" gap="xs">
      <Note aria-live="polite">
        {total === 0
          ? 'None'
          : first > total
            ? `Past the end of ${formatNumber(total)}`
            : `${formatNumber(first)} to ${formatNumber(last)} of ${formatNumber(total)}`}
      </Note>
      {(pages > 1 || page > pages) && (
        <Pagination
          total={pages}
          value={page}
          onChange={onChange}
          size="sm"
          siblings={1}
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          getItemProps={(item) => ({ 'aria-label': `Page ${item}` })}
        />
      )}
    </Group>
  );
}
