import { Alert, Button, Code, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { callApi } from '../client/api.ts';
import { apiQueryOptions } from '../client/queries.ts';
import { Form, FormError, NewPasswordInput, PASSWORD_RULE } from '../parts/form.tsx';
import { StandalonePage } from '../parts/standalone-page.tsx';
import { useFields } from '../parts/use-fields.ts';

/** Returns the token from the fragment of the URL, which browsers send to no server and which appears in no log. */
const readToken = () => window.location.hash.slice(1);

export function FirstStart() {
  const session = useQuery(apiQueryOptions('GET /app/session'));
  const { values, text } = useFields({ name: '', email: '', password: '', token: readToken() });
  const createAdministrator = useMutation({
    mutationFn: async () => {
      // An earlier attempt may have created the account and failed to sign in.
      const { firstStart } = await callApi('GET /app/session');
      if (firstStart) await callApi('POST /app/first-start', { body: values });
      await callApi('POST /app/sign-in', {
        body: { email: values.email, password: values.password },
      });
    },
    onSuccess: () => window.location.assign('/'),
  });
  if (
    session.data &&
    !session.data.firstStart &&
    !createAdministrator.isPending &&
    !createAdministrator.isSuccess
  )
    return <Navigate to="/sign-in" />;
  return (
    <StandalonePage title="First start" heading="Welcome to Tipline">
      {values.token === '' && readToken() === '' ? (
        <Alert title="Setup link required">
          <Text size="sm">
            No accounts exist yet. Open the link that the server printed at startup, or create the first
            administrator with <Code>tipline users create</Code>. Restarting the server prints a new link.
          </Text>
        </Alert>
      ) : (
        <Form onSubmit={createAdministrator.mutate}>
          <Text size="sm">Create the first administrator account.</Text>
          <FormError error={createAdministrator.error} />
          <TextInput label="Name" required autoFocus autoComplete="name" {...text('name')} />
          <TextInput label="E-mail" type="email" required autoComplete="username" {...text('email')} />
          <NewPasswordInput
            label="Password"
            description={`${PASSWORD_RULE} A passphrase works well.`}
            {...text('password')}
          />
          <Button type="submit" loading={createAdministrator.isPending}>
            Create account
          </Button>
        </Form>
      )}
    </StandalonePage>
  );
}
