import IconAlertTriangle from 'icon:alert-triangle';
import { Alert, Button, Stack, Text } from '@mantine/core';

/** An error message, with a button to try again. */
export function ErrorAlert({ message, retry }: { message: string; retry?: () => void }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title="Could not load this page" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{message}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
