/** Objects for tests: state what matters, the rest is filled in. All are `default/db`. */
import type { ContainerState, Pod } from '../api/core/pod.ts';
import type { RunStrategy, VirtualMachine, VmStatus } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance, VmiPhase, VmiStatus } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { FINALIZER_VM_CONTROLLER, FINALIZER_VMI } from '../api/kubevirt/names.ts';
import type { VmiSpec } from '../api/kubevirt/vmi-spec-schema.ts';
import { COMPUTE_CONTAINER } from '../api/launcher/compute.ts';
import { controllerReferenceTo, type ObjectMeta } from '../api/meta.ts';

type Meta = Partial<ObjectMeta>;

const where = { name: 'db', namespace: 'default' };
const createdAt = '2026-01-01T00:00:00Z';

/** The smallest guest: one container disk, 128Mi. */
export const tinySpec: VmiSpec = {
  domain: { resources: { requests: { memory: '128Mi' } }, devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] } },
  volumes: [{ name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } }],
  terminationGracePeriodSeconds: 5,
};

/** A VM (uid vm-1) that the controller has met before: it carries the finalizer. */
export function vm(runStrategy: RunStrategy, status: VmStatus = {}, metadata: Meta = {}): VirtualMachine {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      ...where,
      uid: 'vm-1',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: createdAt,
      finalizers: [FINALIZER_VM_CONTROLLER],
      ...metadata,
    },
    spec: { runStrategy, template: { spec: tinySpec } },
    status,
  };
}

/** A VMI (uid vmi-1) that `vm()` owns, as the controllers make it. */
export function vmi(phase: VmiPhase | undefined, status: Partial<VmiStatus> = {}, metadata: Meta = {}): VirtualMachineInstance {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      ...where,
      uid: 'vmi-1',
      resourceVersion: '1',
      creationTimestamp: createdAt,
      finalizers: [FINALIZER_VM_CONTROLLER, FINALIZER_VMI],
      ownerReferences: [controllerReferenceTo(vm('Always'))],
      ...metadata,
    },
    spec: tinySpec,
    status: phase === undefined ? status : { phase, ...status },
  };
}

/** What a VMI remembers once it has been in these phases. */
export function reached(...phases: VmiPhase[]): Pick<VmiStatus, 'phaseTransitionTimestamps'> {
  return { phaseTransitionTimestamps: phases.map((phase) => ({ phase, phaseTransitionTimestamp: createdAt })) };
}

/** A launcher Pod (uid pod-1) of `vmi()`, on node n1, whose container is in this state. */
export function launcherPod(state: ContainerState, status: Partial<Pod['status']> = {}, metadata: Meta = {}): Pod {
  const name = 'virt-launcher-db-8tfgs';
  const phase = state.running ? 'Running' : state.terminated ? (state.terminated.exitCode === 0 ? 'Succeeded' : 'Failed') : 'Pending';
  const compute = {
    name: COMPUTE_CONTAINER,
    image: 'kubevirt-ts/virt-launcher:latest',
    imageID: '',
    ready: !!state.running,
    restartCount: 0,
    state,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...where,
      name,
      uid: 'pod-1',
      resourceVersion: '1',
      creationTimestamp: createdAt,
      ownerReferences: [controllerReferenceTo(vmi('Pending'))],
      ...metadata,
    },
    spec: { nodeName: 'n1', containers: [{ name: COMPUTE_CONTAINER }] },
    status: { phase, containerStatuses: [compute], podIP: '10.244.0.5', qosClass: 'Burstable', ...status },
  };
}
