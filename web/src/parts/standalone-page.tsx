import { Center, Paper, Stack, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';

interface StandalonePageProps {
  /** The title of the document. */
  title: string;
  heading: string;
  maxWidth?: number;
  children: ReactNode;
}

/** A page without navigation, for use without a full session. */
export function StandalonePage({ title, heading, maxWidth = 440, children }: StandalonePageProps) {
  useDocumentTitle(`${title} · Tipline`);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={maxWidth}>
        <Stack>
          <Title order={1} size="h3">
            {heading}
          </Title>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}
