import IconRss from 'icon:rss';
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useHasRole } from '../../client/queries.ts';
import type { SearchParams } from '../../router.tsx';
import { toExportQuery } from './search.ts';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The filters of the feed that is to be created. */
    feedQuery?: string;
  }
}

/** Opens the form of a new feed with the filters of the list. */
export function SaveFeedButton({ search }: { search: SearchParams }) {
  const navigate = useNavigate();
  const isAnalyst = useHasRole('analyst');
  const feedQuery = toExportQuery(search);
  if (!isAnalyst || !feedQuery) return null;
  return (
    <Button
      variant="default"
      leftSection={<IconRss size={16} />}
      onClick={() =>
        void navigate({ to: '/settings/$section', params: { section: 'feeds' }, state: { feedQuery } })
      }
    >
      Save as feed
    </Button>
  );
}
