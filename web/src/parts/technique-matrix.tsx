import { Anchor, Paper, Stack, Text } from '@mantine/core';
import { ENTERPRISE_TACTICS, techniqueUrl } from '../../../src/model/attack.ts';
import { visibleText } from '../../../src/model/visible-text.ts';
import { sentenceCase } from './format.ts';
import { UsedByLink } from './links.tsx';
import { Note } from './text.tsx';

interface Technique {
  id: string;
  attackId: string | null;
  name: string;
  tactics: string[];
}

const NO_TACTIC = 'No tactic';

function groupByTactic(techniques: Technique[]): [string, Technique[]][] {
  const columns = new Map<string, Technique[]>();
  for (const technique of techniques)
    for (const tactic of technique.tactics.length > 0 ? technique.tactics : [NO_TACTIC])
      columns.set(tactic, [...(columns.get(tactic) ?? []), technique]);
  // Tactics of other catalogues follow.
  const rank = (tactic: string) => ENTERPRISE_TACTICS.indexOf(tactic) + 1 || ENTERPRISE_TACTICS.length + 1;
  return [...columns].sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Techniques in columns by tactic, as in the ATT&CK matrix. */
export function TechniqueMatrix({ techniques }: { techniques: Technique[] }) {
  if (techniques.length === 0) return <Note>None known</Note>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard (WCAG 2.1.1).
    <section className="matrix" aria-label="Techniques by tactic" tabIndex={0}>
      {groupByTactic(techniques).map(([tactic, members]) => (
        <Stack key={tactic} gap={4}>
          <Text size="xs" fw={700}>
            {sentenceCase(visibleText(tactic).replaceAll('-', ' '))} ({members.length})
          </Text>
          {members.map((technique) => (
            <Paper key={technique.id} withBorder p={6} radius="sm">
              <Text size="xs" fw={600}>
                <AttackLink attackId={technique.attackId} />
              </Text>
              <UsedByLink used={technique} fz="xs" display="block" lh="xs" />
            </Paper>
          ))}
        </Stack>
      ))}
    </section>
  );
}

/** An ATT&CK technique ID, linked to its page. IDs of any other form are plain text. */
function AttackLink({ attackId }: { attackId: string | null }) {
  const url = attackId && techniqueUrl(attackId);
  if (!url) return <>{visibleText(attackId ?? '')}</>;
  return (
    <Anchor href={url} target="_blank" rel="noreferrer noopener" inherit>
      {attackId}
    </Anchor>
  );
}
