/** What the records of instance types and preferences have in common. */
import type { KindRecord, PrinterColumn, Roles } from '../../kind.ts';
import { USUAL_ROLES } from '../usual-roles.ts';

/** What a type comes to, at a glance. */
export const SIZE_COLUMNS: readonly PrinterColumn[] = [
  { name: 'CPU', type: 'integer', jsonPath: '.spec.cpu.guest', description: 'Processors of the guest' },
  { name: 'Memory', type: 'string', jsonPath: '.spec.memory.guest', description: 'Memory of the guest' },
];

/** Those of the cluster are read by whoever has a name: a machine in any namespace may be of one. */
export const FOR_EVERYBODY: Roles = { ...USUAL_ROLES, everybody: USUAL_ROLES.view };

export const READ_BY_COMPONENTS: KindRecord['access'] = {
  'virt-api': [{ verbs: ['get'], because: 'What a machine that names one comes to, at admission and for expand-spec.' }],
  'virt-controller': [{ verbs: ['get', 'list', 'watch'] }],
};
