/** What people may do with a kind when there is nothing special about it. */
import type { Roles, Verb } from '../kind.ts';

const READ: readonly Verb[] = ['get', 'list', 'watch'];
const WRITE: readonly Verb[] = [...READ, 'create', 'update', 'patch', 'delete'];

export const USUAL_ROLES: Roles = { view: READ, edit: WRITE, admin: [...WRITE, 'deletecollection'] };
