import { hasRole } from '../../../../src/model/account.ts';
import { useAccount } from '../../client/queries.ts';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { ImportHistory } from './import-history.tsx';
import { NewImport } from './new-import.tsx';

export function Imports() {
  const account = useAccount();
  return (
    <Page title="Imports" about="Import STIX, MISP, CSV and list files (gzip accepted).">
      {hasRole(account.role, 'analyst') && <NewImport />}
      <Section title="History">
        <ImportHistory />
      </Section>
    </Page>
  );
}
