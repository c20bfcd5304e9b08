import { Anchor, Group, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { visibleText } from './format.ts';
import { PageLink } from './links.tsx';
import { Section } from './section.tsx';
import { Day } from './time.tsx';

interface Report {
  id: string;
  title: string;
  url: string | null;
  publishedAt: string | null;
}

/** Reports, each with a link to its URL. URLs are third-party: only http(s) is linked, and no referrer is sent. */
export function ReportsSection({ reports }: { reports: Report[] }) {
  if (reports.length === 0) return null;
  return (
    <Section title="Reports">
      <Stack gap={4}>
        {reports.map(({ id, title, url, publishedAt }) => (
          <Group key={id} gap="xs">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              <PageLink
                to="/indicators"
                search={{ reportId: id }}
                inherit
                underline="always"
                title="Indicators in this report"
              >
                {visibleText(title)}
              </PageLink>{' '}
              <Text span inherit c="dimmed">
                <Day at={publishedAt} fallback="" />
              </Text>
            </Text>
            {url && /^https?:\/\//i.test(url) && (
              <Anchor
                href={url}
                target="_blank"
                rel="noreferrer noopener nofollow"
                size="sm"
                aria-label={`Open ${visibleText(title)}`}
              >
                <IconExternalLink size={14} />
              </Anchor>
            )}
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
