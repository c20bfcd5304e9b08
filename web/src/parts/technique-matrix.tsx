import { Anchor, Paper, Stack, Text } from '@mantine/core';
import { sentenceCase, visibleText } from './format.ts';
import { UsedByLink } from './links.tsx';
import { Note } from './text.tsx';

/** The tactics of ATT&CK Enterprise in its order (https://attack.mitre.org/tactics/enterprise/); others follow. */
const TACTICS = [
  'reconnaissance',
  'resource-development',
  'initial-access',
  'execution',
  'persistence',
  'privilege-escalation',
  'defense-evasion',
  'stealth',
  'defense-impairment',
  'credential-access',
  'discovery',
  'lateral-movement',
  'collection',
  'command-and-control',
  'exfiltration',
  'impact',
];

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
  const rank = (tactic: string) => TACTICS.indexOf(tactic) + 1 || TACTICS.length + 1;
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
  if (!attackId || !/^T\d{4}(\.\d{3})?$/.test(attackId)) return <>{visibleText(attackId ?? '')}</>;
  return (
    <Anchor
      href={`https://attack.mitre.org/techniques/${attackId.replace('.', '/')}/`}
      target="_blank"
      rel="noreferrer noopener"
      inherit
    >
      {attackId}
    </Anchor>
  );
}
