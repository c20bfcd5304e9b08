import IconMoodEmpty from 'icon:mood-empty';
import { Group, EmptyState as MantineEmptyState } from '@mantine/core';
import type { ReactNode } from 'react';

export interface EmptyStateProps {
  title: string;
  /** How to continue. */
  hint?: ReactNode;
  icon?: ReactNode;
  children?: ReactNode;
}

/** A message in place of a list without elements. */
export function EmptyState({ title, hint, icon = <IconMoodEmpty />, children }: EmptyStateProps) {
  return (
    <MantineEmptyState icon={icon} title={title} description={hint} py="xl">
      {children && (
        <MantineEmptyState.Actions>
          <Group justify="center">{children}</Group>
        </MantineEmptyState.Actions>
      )}
    </MantineEmptyState>
  );
}
