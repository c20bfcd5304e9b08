import { ROLES, type Role } from '../../../src/model/account.ts';

/** Tells whether a role includes the required one. */
export const hasRole = (role: Role, required: Role) => ROLES.indexOf(role) >= ROLES.indexOf(required);
