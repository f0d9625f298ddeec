/** KubeVirt: the configuration of an installation, one object in it. */

import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import type { specSchema, statusSchema } from './kubevirt-schema.ts';
import { HARDWARE } from './virtual-machine-instance-refused-table.ts';

const MIGRATION = 'machines are moved when somebody asks for it, within one cluster';
const CPU_MODELS = 'nodes are not labelled by processor model yet, so none is ruled out';

/** What it says is for everybody to see; who may change it, may change the cluster. */
const LOOK = ['get', 'list'] as const;

/** Every component honours the configuration as it is now. */
const FOLLOW = [{ verbs: ['get', 'list', 'watch'] }] as const;

export type KubeVirtStatus = Static<typeof statusSchema>;
export type KubeVirt = KubeObject & {
  readonly kind: 'KubeVirt';
  readonly spec: Static<typeof specSchema>;
  readonly status?: KubeVirtStatus;
};

export const KUBEVIRTS = kind<KubeVirt>({
  group: 'kubevirt.io',
  kind: 'KubeVirt',
  plural: 'kubevirts',
  shortNames: ['kv', 'kvs'],
  description: 'The configuration of an installation.',
  versions: ['v1'],
  remark: 'made and kept true by an embedded cluster; see [below](#kubevirt-spec) for what is read of it',
  columns: [AGE, { name: 'Phase', type: 'string', jsonPath: '.status.phase' }],
  subresources: { status: {} },
  roles: { view: LOOK, edit: LOOK, admin: LOOK, everybody: LOOK },
  access: {
    'virt-api': FOLLOW,
    'virt-controller': [...FOLLOW, { part: 'status', verbs: ['patch'], because: 'How many machines run in an older launcher.' }],
    'virt-handler': FOLLOW,
  },
  label: 'operator.kubevirt.io',
  refused: {
    configuration: 'no component reads it yet',
    'configuration.changedBlockTrackingLabelSelectors':
      'backups need no selectors: changed blocks are tracked from the first one with a VirtualMachineBackupTracker on',
    'configuration.confidentialCompute': 'needs hardware for confidential computing',
    'configuration.ksmConfiguration': 'switches a setting of the kernel of nodes, for which virt-handler has no right',
    'configuration.persistentReservationConfiguration': 'SCSI passthrough is not supported',
    'configuration.virtTemplateDeployment': 'templates of machines are not supported',
    'configuration.developerConfiguration': 'nothing here is tuned by it',
    'configuration.mediatedDevicesConfiguration': HARDWARE,
    'configuration.minCPUModel': CPU_MODELS,
    'configuration.obsoleteCPUModels': CPU_MODELS,
    'configuration.migrations.network': 'machines are moved through the network of Pods',
    synchronizationPort: MIGRATION,
    'workloads.replicas': 'there is one virt-handler on each node',
  },
});
