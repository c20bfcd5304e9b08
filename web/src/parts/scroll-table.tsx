import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  /** Names the table for screen readers. */
  label: string;
  minWidth: number;
  maxHeight?: number;
  children: ReactNode;
}

/** A table that scrolls within the page, also with the keyboard (WCAG 2.1.1). */
export function ScrollTable({ label, ...props }: Props) {
  return <Table.ScrollContainer {...props} type="native" tabIndex={0} role="group" aria-label={label} />;
}
