import type { useNavigate } from '@tanstack/react-router';
import { visibleText } from '../../../src/model/visible-text.ts';
import type { ApiResponse } from '../client/operations.ts';
import { sentenceCase } from '../parts/format.ts';

export interface Hit {
  id: string;
  label: string;
  description?: string;
  onClick(): void;
}

export type HitGroup = [title: string, hits: Hit[]];

type Navigate = ReturnType<typeof useNavigate>;

type Target =
  | { to: '/indicators/$id' | '/actors/$id' | '/campaigns/$id' | '/reports/$id'; params: { id: string } }
  | { to: '/indicators' | '/actors'; search: Record<string, string> };

/** Converts search results to groups of hits that open a page. */
export function searchHits(results: Partial<ApiResponse<'GET /app/search'>>, navigate: Navigate): HitGroup[] {
  const { indicators = [], actors = [], campaigns = [], techniques = [], software = [] } = results;
  const { reports = [], sources = [], tags = [] } = results;
  const hit = (id: string, label: string, target: Target, description?: string | null) => ({
    id,
    label: visibleText(label),
    ...(description && { description: visibleText(description) }),
    onClick: () => void navigate(target),
  });
  return [
    [
      'Indicators',
      indicators.map(({ id, type, defanged, hidden }) =>
        hit(id, defanged, { to: '/indicators/$id', params: { id } }, hidden ? `${type}, hidden` : type),
      ),
    ],
    [
      'Actors',
      actors.map(({ id, name, attackGroupId }) =>
        hit(id, name, { to: '/actors/$id', params: { id } }, attackGroupId),
      ),
    ],
    [
      'Campaigns',
      campaigns.map(({ id, name, status }) =>
        hit(id, name, { to: '/campaigns/$id', params: { id } }, sentenceCase(status)),
      ),
    ],
    [
      'Actors using this',
      [...techniques, ...software].map(({ id, name, attackId }) =>
        hit(`uses:${id}`, name, { to: '/actors', search: { uses: attackId ?? name } }, attackId),
      ),
    ],
    ['Reports', reports.map(({ id, title }) => hit(id, title, { to: '/reports/$id', params: { id } }))],
    [
      'Indicators from this source',
      sources.map(({ id, name }) =>
        hit(`source:${id}`, name, { to: '/indicators', search: { sourceId: id } }),
      ),
    ],
    [
      'Indicators with this tag',
      tags.map((tag) => hit(`tag:${tag}`, tag, { to: '/indicators', search: { tag } })),
    ],
  ];
}
