import { Button } from '@mantine/core';

/** A button in a row of a table. */
export const RowButton = Button.withProps({ size: 'compact-xs', variant: 'default' });
