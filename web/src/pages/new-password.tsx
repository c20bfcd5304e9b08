import { Button, Center, Paper, Stack, Text, Title } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { sameSitePath } from '../../../src/model/same-site-path.ts';
import { signOut } from '../client/sign-out.ts';
import { ChangePassword } from '../parts/change-password.tsx';

/** The only page of a session that was opened with a password that an administrator set. */
export function NewPassword() {
  const { to } = useSearch({ from: '/new-password' });
  useEffect(() => {
    document.title = 'New password · Tipline';
  }, []);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={440}>
        <Stack>
          <Title order={1} size="h3">
            Choose a new password
          </Title>
          <Text size="sm">Your current password was set by an administrator.</Text>
          <ChangePassword
            onDone={() => {
              window.location.assign(sameSitePath(to));
              return undefined;
            }}
          />
          <Button variant="subtle" onClick={() => void signOut()}>
            Sign out
          </Button>
        </Stack>
      </Paper>
    </Center>
  );
}
