/** KubeVirt: the configuration of an installation, one object in it. */

import { kind } from '../../kind.ts';
import { ACCELERATOR_VARIABLE } from '../../launcher/variables.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import type { specSchema, statusSchema } from './kubevirt-schema.ts';
import { HARDWARE, HOTPLUG } from './virtual-machine-instance-refused-table.ts';

const OPERATOR = 'the operator puts its components in place as they are';
const MONITORING = 'there are no ServiceMonitors yet';
const MIGRATION = 'comes with live migration';
const CPU_MODELS = 'set domain.cpu.model on the machine; a default for all is not read yet';
const CLIENT_LIMITS = 'our clients have no such limit to tune';

/** What it says is for everybody to see; who may change it, may change the cluster. */
const LOOK = ['get', 'list'] as const;

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
  access: {},
  label: 'operator.kubevirt.io',
  refused: {
    'certificateRotateStrategy.selfSigned': 'give ca.duration, ca.renewBefore, server.duration and server.renewBefore instead',
    configuration: 'no component reads it yet',
    'configuration.apiConfiguration': CLIENT_LIMITS,
    'configuration.controllerConfiguration': CLIENT_LIMITS,
    'configuration.cpuModel': CPU_MODELS,
    'configuration.developerConfiguration': 'nothing here is tuned by it',
    'configuration.developerConfiguration.useEmulation': `the accelerator is chosen by looking at the host; start the embedded cluster with ${ACCELERATOR_VARIABLE}=tcg`,
    'configuration.handlerConfiguration': CLIENT_LIMITS,
    'configuration.mediatedDevicesConfiguration': HARDWARE,
    'configuration.migrations': MIGRATION,
    'configuration.minCPUModel': CPU_MODELS,
    'configuration.obsoleteCPUModels': CPU_MODELS,
    'configuration.permittedHostDevices': HARDWARE,
    'configuration.webhookConfiguration': CLIENT_LIMITS,
    'configuration.liveUpdateConfiguration': HOTPLUG,
    customizeComponents: OPERATOR,
    monitorAccount: MONITORING,
    monitorNamespace: MONITORING,
    product: OPERATOR,
    serviceMonitorNamespace: MONITORING,
    synchronizationPort: MIGRATION,
    workloadUpdateStrategy: MIGRATION,
    'workloads.replicas': 'there is one virt-handler on each node',
  },
});
