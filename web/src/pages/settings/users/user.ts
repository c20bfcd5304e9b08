import { ROLES } from '../../../../../src/model/account.ts';
import type { ApiItem } from '../../../client/operations.ts';
import { sentenceCase, toOptions } from '../../../parts/format.ts';

export type User = ApiItem<'GET /app/users'>;

export const ROLE_NAMES = toOptions(ROLES, sentenceCase);
