import { Stack, Text } from '@mantine/core';
import { Fragment } from 'react';
import { visibleText } from './format.ts';
import { PageLink } from './links.tsx';
import { Section } from './section.tsx';

interface SoftwareItem {
  id: string;
  attackId: string | null;
  name: string;
}

export function SoftwareSection({ malware, tools }: { malware: SoftwareItem[]; tools: SoftwareItem[] }) {
  const list = (title: string, items: SoftwareItem[]) =>
    items.length > 0 && (
      <div>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="sm">
          {items.map(({ id, name, attackId }, index) => (
            <Fragment key={id}>
              {index > 0 && ', '}
              <PageLink
                to="/actors"
                search={{ uses: attackId ?? name }}
                inherit
                underline="always"
                title="Actors using this"
              >
                {visibleText(name)}
              </PageLink>
              {attackId && ` (${visibleText(attackId)})`}
            </Fragment>
          ))}
        </Text>
      </div>
    );
  return (
    <Section title="Software">
      <Stack gap="xs">
        {malware.length + tools.length === 0 && (
          <Text size="sm" c="dimmed">
            None known
          </Text>
        )}
        {list('Malware', malware)}
        {list('Tools', tools)}
      </Stack>
    </Section>
  );
}
