/** VirtualMachineExport: the disks of a machine, a snapshot or a PVC can be taken away, for a while. */
import { parseGoDuration } from '../../../base/go-duration.ts';
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './vm-export-schema.ts';

export type VmExportStatus = Static<typeof statusSchema>;
export type VmExportPhase = 'Pending' | 'Ready' | 'Terminated' | 'Skipped';
export type VirtualMachineExport = KubeObject & {
  readonly kind: 'VirtualMachineExport';
  readonly spec: Static<typeof specSchema>;
  readonly status?: VmExportStatus;
};

export const VM_EXPORTS = kind<VirtualMachineExport>({
  group: 'export.kubevirt.io',
  kind: 'VirtualMachineExport',
  plural: 'virtualmachineexports',
  shortNames: ['vmexport', 'vmexports'],
  description: 'The disks of a machine, a snapshot or a PVC can be taken away, for a while.',
  versions: ['v1', 'v1beta1', 'v1alpha1'],
  remark: 'disks as raw or gzip, other files as dir or tar.gz; whole, resumable',
  columns: [
    { name: 'SourceKind', type: 'string', jsonPath: '.spec.source.kind' },
    { name: 'SourceName', type: 'string', jsonPath: '.spec.source.name' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  ],
  subresources: { status: {} },
  roles: USUAL_ROLES,
  access: {
    'virt-api': [{ verbs: ['get'], because: 'Whose Pod serves the disks that are asked for.' }],
    'virt-controller': [
      { verbs: ['get', 'list', 'watch'] },
      { verbs: ['delete'], because: 'Its time is over.' },
      { part: 'status', verbs: ['patch'] },
      { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES },
    ],
  },
});

const DEFAULT_TTL_MS = 2 * 60 * 60 * 1000;

/** When it goes, in milliseconds. */
export function expiryOf({ metadata, spec }: VirtualMachineExport): number {
  const ttlMs = (spec.ttlDuration && parseGoDuration(spec.ttlDuration)) || DEFAULT_TTL_MS;
  return Date.parse(metadata.creationTimestamp ?? '') + ttlMs;
}
