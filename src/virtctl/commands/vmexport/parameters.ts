/** What the commands of this group are called with. */
import { optionalText, text } from '../../parameters.ts';

export const sourceFlags = {
  vm: { ...optionalText, brief: 'The machine whose disks are exported; it has to be stopped', placeholder: 'name' },
  snapshot: { ...optionalText, brief: 'The snapshot whose disks are exported', placeholder: 'name' },
  pvc: { ...optionalText, brief: 'The PVC whose disk is exported', placeholder: 'name' },
  ttl: { ...optionalText, brief: 'How long the export is there (default: 2h)', placeholder: 'time' },
  labels: { ...optionalText, brief: 'Of the export: a=b,c=d', placeholder: 'pairs' },
  annotations: { ...optionalText, brief: 'Of the export: a=b,c=d', placeholder: 'pairs' },
} as const;

export const exportName = {
  kind: 'tuple',
  parameters: [{ ...text, brief: 'Name of the VirtualMachineExport', placeholder: 'NAME' }],
} as const;
