import { useQuery } from '@tanstack/react-query';
import { EmptyState } from '../../parts/empty-state.tsx';
import { plural } from '../../parts/format.ts';
import { LookupForm } from '../../parts/lookup-form.tsx';
import { lookupOptions, useLookupText } from '../../parts/lookup-text.ts';
import { Page } from '../../parts/page.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Note } from '../../parts/text.tsx';
import { LookupResults } from './lookup-results.tsx';

export function Lookup() {
  const { text, isShared } = useLookupText();
  const query = useQuery({
    ...lookupOptions(text),
    enabled: text.trim() !== '',
    // Thousands of values are not looked up again each time that the window gets the focus.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  return (
    <Page title="Look up values">
      <LookupForm key={text} text={text} />
      {text.trim() === '' ? (
        <Note>Results are known, hidden (whitelisted or expired, for analysts) or unknown.</Note>
      ) : (
        <QueryResult query={query}>
          {({ data, omitted }) =>
            data.length === 0 ? (
              <EmptyState
                title="No values found"
                hint="The text has no addresses, domains, URLs, hashes or other values."
              />
            ) : (
              <>
                {omitted > 0 && <Note>{plural(omitted, 'value')} beyond the limit not looked up.</Note>}
                <LookupResults key={text} results={data} isShared={isShared} />
              </>
            )
          }
        </QueryResult>
      )}
    </Page>
  );
}
