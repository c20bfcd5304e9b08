import { Group, Pagination, Text } from '@mantine/core';
import { number } from './words.tsx';

interface PagingProps {
  page: number;
  pageSize: number;
  total: number;
  onChange(page: number): void;
}

/** Which rows of how many, and the way to the others. */
export function Paging({ page, pageSize, total, onChange }: PagingProps) {
  const first = (page - 1) * pageSize + 1;
  const last = Math.min(page * pageSize, total);
  const pages = Math.ceil(total / pageSize);
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" c="dimmed" aria-live="polite">
        {total === 0
          ? 'None'
          : first > total
            ? `Past the end of ${number(total)}`
            : `${number(first)} to ${number(last)} of ${number(total)}`}
      </Text>
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
