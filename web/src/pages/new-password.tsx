import { Button, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { sameSitePath } from '../../../src/model/account.ts';
import { signOut } from '../client/sign-out.ts';
import { ChangePassword } from '../parts/change-password.tsx';
import { StandalonePage } from '../parts/standalone-page.tsx';

/** The only page of a session that was opened with a password that an administrator set. */
export function NewPassword() {
  const { to } = useSearch({ from: '/new-password' });
  return (
    <StandalonePage title="New password" heading="Choose a new password">
      <Text size="sm">Your current password was set by an administrator.</Text>
      <ChangePassword
        onDone={() => {
          window.location.assign(sameSitePath(to) + window.location.hash);
          return undefined;
        }}
      />
      <Button variant="subtle" onClick={() => void signOut()}>
        Sign out
      </Button>
    </StandalonePage>
  );
}
