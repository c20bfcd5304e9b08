import { Badge, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import { plural } from '../../../parts/format.ts';
import { SecondLine } from '../../../parts/text.tsx';
import { Day } from '../../../parts/time.tsx';
import type { Feed } from './feeds.tsx';

/** The bounds of a feed, and what they hold back. */
export function GuardStatus({ feed: { minEntries, minShare, heldBack, problem } }: { feed: Feed }) {
  const bounds = [
    minEntries !== null && plural(minEntries, 'entry', 'entries'),
    minShare !== null && `${minShare} % of the day before`,
  ].filter((bound) => bound !== false);
  return (
    <>
      {bounds.length > 0 && <SecondLine>At least {bounds.join(' and ')}</SecondLine>}
      {heldBack.map(({ source, entries, since }) => (
        <Problem key={source} label="Held back">
          {plural(entries, 'entry', 'entries')} held back since <Day at={since} />: missing from the list of{' '}
          {visibleText(source)}
        </Problem>
      ))}
      {problem !== null && (
        <Problem label="Not valid">
          Cannot be read{bounds.length > 0 && ' and is not guarded'}: {visibleText(problem)}
        </Problem>
      )}
    </>
  );
}

function Problem({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack gap={2} mt={4} align="flex-start">
      <Badge color="#c2410c">{label}</Badge>
      <Text size="xs">{children}</Text>
    </Stack>
  );
}
