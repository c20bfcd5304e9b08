import { Stack, Text } from '@mantine/core';
import { Fragment } from 'react';
import { visibleText } from '../../../src/model/visible-text.ts';
import { UsedByLink } from './links.tsx';
import { Section } from './section.tsx';
import { Note } from './text.tsx';

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
          {items.map((item, index) => (
            <Fragment key={item.id}>
              {index > 0 && ', '}
              <UsedByLink used={item} inherit underline="always" />
              {item.attackId && ` (${visibleText(item.attackId)})`}
            </Fragment>
          ))}
        </Text>
      </div>
    );
  return (
    <Section title="Software">
      <Stack gap="xs">
        {malware.length + tools.length === 0 && <Note>None known</Note>}
        {list('Malware', malware)}
        {list('Tools', tools)}
      </Stack>
    </Section>
  );
}
