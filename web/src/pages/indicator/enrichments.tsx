import IconRefresh from 'icon:refresh';
import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { indentedJson } from '../../../../src/model/indented-json.ts';
import { visibleLines, visibleText } from '../../../../src/model/visible-text.ts';
import { useApiMutation } from '../../client/queries.ts';
import { VerdictBadge } from '../../parts/badges.tsx';
import { plural } from '../../parts/format.ts';
import { Section } from '../../parts/section.tsx';
import { Note } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { type IndicatorDetail, isNetwork } from './indicator-detail.ts';

/** Returns why an enrichment queued no provider. */
function skipReason(indicator: IndicatorDetail): string {
  const { suppressedBy, expired, pendingProviders } = indicator;
  if (suppressedBy || expired) return 'Not sent: hidden indicators are never shared with providers.';
  if (pendingProviders.length > 0) return `Already queued: ${pendingProviders.join(', ')}.`;
  if (isNetwork(indicator)) return 'Not sent: providers are asked about single addresses only.';
  return 'No provider supports this type or TLP.';
}

export function Enrichments({ indicator, canEnrich }: { indicator: IndicatorDetail; canEnrich: boolean }) {
  const enrich = useApiMutation('POST /app/indicators/:id/enrich', ({ providers }) =>
    providers.length > 0 ? `Queued: ${providers.join(', ')}.` : skipReason(indicator),
  );
  const { verdict, maxScore, providerCount } = indicator.enrichmentSummary;
  return (
    <Section
      title="Enrichments"
      actions={
        canEnrich && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={14} />}
            loading={enrich.isPending}
            onClick={() => enrich.mutate({ params: { id: indicator.id } })}
          >
            Enrich now
          </Button>
        )
      }
    >
      <Group gap="xs" mb="sm">
        <VerdictBadge verdict={verdict} />
        <Text size="sm">
          {maxScore === null
            ? 'No verdict yet'
            : `Highest score ${maxScore} (${plural(providerCount, 'provider')} responded)`}
        </Text>
        {indicator.pendingProviders.length > 0 && (
          <Note role="status">Queued: {indicator.pendingProviders.join(', ')}…</Note>
        )}
      </Group>
      {indicator.enrichments.length === 0 ? (
        <Note>Not enriched yet</Note>
      ) : (
        <Stack gap="sm">
          {indicator.enrichments.map((enrichment) => (
            <div key={enrichment.provider}>
              <Group gap="xs">
                <Text fw={600} size="sm">
                  {enrichment.provider}
                </Text>
                <VerdictBadge verdict={enrichment.verdict} />
                {enrichment.score !== null && <Text size="sm">score {enrichment.score}</Text>}
                <Note>
                  queried <Time at={enrichment.fetchedAt} />, {enrichment.fresh ? 'fresh' : 'stale'}
                </Note>
              </Group>
              {enrichment.error ? (
                <Text size="sm" c="red">
                  Lookup failed: {visibleText(enrichment.error)}
                </Text>
              ) : (
                <details>
                  <Text component="summary" size="sm" style={{ cursor: 'pointer' }}>
                    Raw response
                  </Text>
                  <Code block mah={400} style={{ overflow: 'auto' }} tabIndex={0}>
                    {visibleLines(indentedJson(enrichment.raw))}
                  </Code>
                </details>
              )}
            </div>
          ))}
        </Stack>
      )}
    </Section>
  );
}
