import { Spoiler, Text } from '@mantine/core';
import { visibleLines } from '../../../src/model/visible-text.ts';

export function Description({ text }: { text: string | null }) {
  if (!text) return null;
  return (
    <Spoiler maxHeight={120} showLabel="Show more" hideLabel="Show less">
      <Text size="sm" maw={900} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {visibleLines(text)}
      </Text>
    </Spoiler>
  );
}
