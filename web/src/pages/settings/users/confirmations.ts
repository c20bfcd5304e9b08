import type { Role } from '../../../../../src/model/account.ts';
import type { ApiBody } from '../../../client/operations.ts';
import type { User } from './user.ts';

export interface Confirmation {
  title: string;
  action: string;
  /** The effect of the change. */
  effect: string;
  body: ApiBody<'PATCH /app/users/:id'>;
}

/** The dialogs that confirm a change of a user. */
export const confirmations = {
  role: ({ email, role: previous }: User, role: Role): Confirmation => ({
    title: `Make ${email} ${role === 'viewer' ? 'a' : 'an'} ${role}?`,
    action: 'Change role',
    effect: `They are ${previous === 'viewer' ? 'a' : 'an'} ${previous} now. Their sessions end, and their API keys see no more than the new role.`,
    body: { role },
  }),
  withoutTwoFactor: ({ email }: User): Confirmation => ({
    title: `Reset two-factor authentication of ${email}?`,
    action: 'Reset',
    effect: 'They sign in with the password alone until they set it up again.',
    body: { withoutTwoFactor: true },
  }),
  disabled: ({ email }: User): Confirmation => ({
    title: `Disable ${email}?`,
    action: 'Disable',
    effect: 'Signs them out and rejects their API keys until they are enabled again.',
    body: { disabled: true },
  }),
};
