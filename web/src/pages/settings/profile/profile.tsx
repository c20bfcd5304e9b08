import { Stack } from '@mantine/core';
import { useState } from 'react';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import { useAccount } from '../../../client/queries.ts';
import { ChangePassword } from '../../../parts/change-password.tsx';
import { DetailsTable } from '../../../parts/details-table.tsx';
import { sentenceCase, tlpName } from '../../../parts/format.ts';
import { Section } from '../../../parts/section.tsx';
import { Sessions } from './sessions.tsx';
import { TwoFactor } from './two-factor.tsx';

export function Profile() {
  const account = useAccount();
  return (
    <Stack>
      <Section title="Profile">
        <DetailsTable
          rows={[
            ['Name', visibleText(account.name)],
            ['E-mail', account.email],
            ['Role', sentenceCase(account.role)],
            ['TLP ceiling', tlpName(account.tlpCeiling)],
          ]}
        />
      </Section>
      <PasswordSection />
      <TwoFactor isOn={account.twoFactor} />
      <Sessions ownId={account.sessionId} />
    </Stack>
  );
}

function PasswordSection() {
  const [formKey, setFormKey] = useState(0);
  return (
    <Section title="Password">
      <ChangePassword
        // A new key empties the form.
        key={formKey}
        onDone={() => {
          setFormKey(formKey + 1);
          return 'Password changed. All other sessions were signed out.';
        }}
      />
    </Section>
  );
}
