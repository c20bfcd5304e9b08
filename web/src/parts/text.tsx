import { Text } from '@mantine/core';

/** A dimmed paragraph, such as the statement that a list is empty. */
export const Note = Text.withProps({ size: 'sm', c: 'dimmed' });

/** The second line of a table cell. */
export const SecondLine = Text.withProps({ size: 'xs', c: 'dimmed' });

/** Dimmed words within a text. */
export const Dimmed = Text.withProps({ span: true, inherit: true, c: 'dimmed' });
