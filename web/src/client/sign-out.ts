import { notifications } from '@mantine/notifications';
import { ApiError, callApi } from './api.ts';

/** Ends the session and opens the sign-in page. */
export async function signOut(): Promise<void> {
  try {
    await callApi('POST /app/sign-out');
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
