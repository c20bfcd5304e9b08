import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

interface FilterBarProps {
  /** The search box, which the shortcut `/` focuses. */
  search: ReactNode;
  /** Whether a filter other than the search box is set. */
  isFiltered: boolean;
  children: ReactNode;
}

/** A search box and filters. Narrow screens collapse the filters unless one is set. */
export function FilterBar({ search, isFiltered, children }: FilterBarProps) {
  const [opened, { toggle }] = useDisclosure(isFiltered);
  return (
    <Group gap="xs" align="flex-end" role="search">
      {search}
      <Button hiddenFrom="sm" variant="default" onClick={toggle} aria-expanded={opened}>
        Filters
      </Button>
      <Group gap="xs" align="flex-end" {...(!opened && { visibleFrom: 'sm' })}>
        {children}
      </Group>
    </Group>
  );
}
