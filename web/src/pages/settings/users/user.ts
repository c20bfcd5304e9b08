import { ROLES } from '../../../../../src/model/account.ts';
import type { ApiItem } from '../../../client/operations.ts';
import { sentenceCase } from '../../../parts/format.ts';

export type User = ApiItem<'GET /app/users'>;

export const ROLE_NAMES = ROLES.map((value) => ({ value, label: sentenceCase(value) }));
