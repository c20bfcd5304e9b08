import IconExternalLink from 'icon:external-link';
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { visibleText } from '../../../src/model/visible-text.ts';
import { ReportLink } from './links.tsx';
import { Section } from './section.tsx';
import { Dimmed } from './text.tsx';
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
              <ReportLink report={{ id, title }} inherit />{' '}
              <Dimmed>
                <Day at={publishedAt} fallback="" />
              </Dimmed>
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
