import { notifications } from '@mantine/notifications';
import { ApiError, callApi } from './api.ts';

type SignOut = 'POST /app/sign-out' | 'POST /app/sign-out-everywhere';

/** Ends the session, or all of the account, and opens the sign-in page. */
export async function signOut(operation: SignOut = 'POST /app/sign-out'): Promise<void> {
  try {
    await callApi(operation);
  } catch (error) {
    // 401: the session has already ended.
    if (!(error instanceof ApiError && error.status === 401))
      return void notifications.show({
        color: 'red',
        title: 'Sign-out failed',
        message: String((error as Error).message),
      });
  }
  window.location.assign('/sign-in');
}
