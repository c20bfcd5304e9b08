import type { Static } from 'typebox';
import type { Principal } from '../db/visibility.ts';
import { defang } from '../model/defang.ts';
import { compareTlp, decidingStatement, type SourceStatement } from '../model/statement.ts';
import type { AnalystRow, findAdditionalColumns, findSuppressingEntry } from './details.queries.ts';
import type { readIndicator } from './indicators.app.schema.ts';
import { toContext, toIndicator } from './indicators.mappers.ts';
import type { findContext } from './read/indicators.queries.ts';
import type { LoadedIndicator } from './state/state.queries.ts';

type Detail = Static<typeof readIndicator.answer>['data'];
type ContextRow = NonNullable<Awaited<ReturnType<typeof findContext>>>;

export function toRow({ pinned, ...row }: AnalystRow) {
  return { ...toIndicator(row), defanged: defang(row.type, row.value), pinned };
}

interface Parts {
  context: ContextRow;
  known: LoadedIndicator;
  more: Awaited<ReturnType<typeof findAdditionalColumns>>;
  hider: Awaited<ReturnType<typeof findSuppressingEntry>>;
  pendingProviders: string[];
}

export function toDetail(parts: Parts, principal: Principal): Detail {
  const { known, more, hider } = parts;
  const context = toContext(parts.context, principal.now);
  const statements = [...known.statements.values()];
  return {
    ...context,
    createdAt: more.createdAt,
    modifiedAt: more.modifiedAt,
    forDetection: statements.some(({ forDetection }) => forDetection),
    externalIds: [...known.externalIds].sort(),
    // The indicator's TLP is that of its most restrictive statement, so this normally excludes none.
    sources: statements
      .filter(({ tlp }) => compareTlp(tlp, principal.tlpCeiling) <= 0)
      .map(toSourceStatement),
    confidenceOrigin: confidenceOriginOf(context, known, statements),
    expired: parts.context.expires_at !== null && parts.context.expires_at <= principal.now,
    suppressedBy: hider ?? null,
    pendingProviders: parts.pendingProviders,
  };
}

function toSourceStatement({ source, ...stated }: SourceStatement): Detail['sources'][number] {
  return {
    sourceId: source.id,
    source: source.name,
    defaultConfidence: source.defaults.confidence,
    ...stated,
  };
}

/** Returns the origin of the confidence, by the rules of `effectiveConfidence`, with names. */
function confidenceOriginOf(
  { enrichments }: Pick<Detail, 'enrichments'>,
  { pinned, stored }: Pick<LoadedIndicator, 'pinned' | 'stored'>,
  statements: readonly SourceStatement[],
): Detail['confidenceOrigin'] {
  const judged = enrichments.filter(({ score, error }) => score !== null && error === null);
  const [best] = judged.sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
  // An indicator that no source states any more retains its confidence.
  const stated =
    statements.length > 0
      ? decidingStatement(statements)
      : { confidence: stored?.confidence ?? 0, source: { name: 'last known source' } };
  const free = best
    ? { unpinned: best.score ?? 0, unpinnedBy: 'provider' as const, unpinnedName: best.provider }
    : { unpinned: stated.confidence, unpinnedBy: 'source' as const, unpinnedName: stated.source.name };
  if (pinned !== null) return { pinned, by: 'analyst', name: null, ...free };
  return { pinned: null, by: free.unpinnedBy, name: free.unpinnedName, ...free };
}
