import { useHasRole } from '../../client/queries.ts';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { ImportHistory } from './import-history.tsx';
import { NewImport } from './new-import.tsx';

export function Imports() {
  const isAnalyst = useHasRole('analyst');
  return (
    <Page title="Imports" about="Import STIX, MISP, CSV and list files (gzip accepted).">
      {isAnalyst && <NewImport />}
      <Section title="History">
        <ImportHistory />
      </Section>
    </Page>
  );
}
