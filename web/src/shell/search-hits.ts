import type { useNavigate } from '@tanstack/react-router';
import type { ApiResponse } from '../client/operations.ts';
import { sentenceCase, visibleText } from '../parts/format.ts';

export interface Hit {
  id: string;
  label: string;
  description?: string;
  onClick(): void;
}

export type HitGroup = [title: string, hits: Hit[]];

type SearchResults = ApiResponse<'GET /app/search'>;

/** Converts search results to groups of hits that open a page. */
export function searchHits(
  results: Partial<SearchResults>,
  navigate: ReturnType<typeof useNavigate>,
): HitGroup[] {
  const {
    indicators = [],
    actors = [],
    campaigns = [],
    techniques = [],
    software = [],
    reports = [],
    sources = [],
    tags = [],
  } = results;
  return [
    [
      'Indicators',
      indicators.map(({ id, type, defanged, hidden }) => ({
        id,
        label: visibleText(defanged),
        description: hidden ? `${type}, hidden` : type,
        onClick: () => void navigate({ to: '/indicators/$id', params: { id } }),
      })),
    ],
    [
      'Actors',
      actors.map(({ id, name, attackGroupId }) => ({
        id,
        label: visibleText(name),
        ...(attackGroupId && { description: attackGroupId }),
        onClick: () => void navigate({ to: '/actors/$id', params: { id } }),
      })),
    ],
    [
      'Campaigns',
      campaigns.map(({ id, name, status }) => ({
        id,
        label: visibleText(name),
        description: sentenceCase(status),
        onClick: () => void navigate({ to: '/campaigns/$id', params: { id } }),
      })),
    ],
    [
      'Actors using this',
      [...techniques, ...software].map(({ id, name, attackId }) => ({
        id: `uses:${id}`,
        label: visibleText(name),
        ...(attackId && { description: visibleText(attackId) }),
        onClick: () => void navigate({ to: '/actors', search: { uses: attackId ?? name } }),
      })),
    ],
    [
      'Indicators in this report',
      reports.map(({ id, title }) => ({
        id: `report:${id}`,
        label: visibleText(title),
        onClick: () => void navigate({ to: '/indicators', search: { reportId: id } }),
      })),
    ],
    [
      'Indicators from this source',
      sources.map(({ id, name }) => ({
        id: `source:${id}`,
        label: visibleText(name),
        onClick: () => void navigate({ to: '/indicators', search: { sourceId: id } }),
      })),
    ],
    [
      'Indicators with this tag',
      tags.map((tag) => ({
        id: `tag:${tag}`,
        label: visibleText(tag),
        onClick: () => void navigate({ to: '/indicators', search: { tag } }),
      })),
    ],
  ];
}
