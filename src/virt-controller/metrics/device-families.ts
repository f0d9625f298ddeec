/** Network cards of machines and instances, and how large the PVCs of machines are, by the names and labels that KubeVirt publishes. */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { keyOf } from '../../api/meta.ts';
import type { MetricLabels, MetricSample } from '../../base/metrics.ts';
import { parseQuantity } from '../../base/quantity.ts';
import type { SpecFamily } from './vm-families.ts';

const POD_NETWORK = 'pod networking';
const NONE = '<none>';

export const VM_NIC_FAMILY: SpecFamily<VirtualMachine> = {
  name: 'kubevirt_vm_vnic_info',
  help: 'Network cards that the machine is to have.',
  samplesOf: ({ metadata: { namespace = '', name }, spec }) =>
    nicsOf(spec.template.spec).map(({ labels }) => ({ labels: { namespace, name, ...labels }, value: 1 })),
};

export const VMI_NIC_FAMILY: SpecFamily<VirtualMachineInstance> = {
  name: 'kubevirt_vmi_vnic_info',
  help: 'Network cards that the instance has.',
  samplesOf: ({ metadata: { namespace = '', name }, spec }) =>
    nicsOf(spec).map(({ labels, model }) => ({ labels: { namespace, name, ...labels, model }, value: 1 })),
};

/** The size that is asked for, which the disk of the guest has. A PVC that is not there has none. */
export function allocatedDisks(
  { metadata: { namespace = '', name }, spec }: VirtualMachine,
  claimAt: (key: string) => PersistentVolumeClaim | undefined,
): MetricSample[] {
  return (spec.template.spec.volumes ?? []).flatMap((volume) => {
    const claimName = claimOf(volume)?.claimName;
    const claim = claimName === undefined ? undefined : claimAt(keyOf({ namespace, name: claimName }));
    const value = parseQuantity(claim?.spec.resources?.requests?.['storage'] ?? '');
    if (claimName === undefined || !claim || value === undefined) return [];
    const { volumeMode = NONE } = claim.spec;
    return [{ labels: { namespace, name, persistentvolumeclaim: claimName, volume_mode: volumeMode, device: volume.name }, value }];
  });
}

/** Cards that are written out and lead to a network that is. */
function nicsOf({ domain, networks = [] }: VmiSpec): { readonly labels: MetricLabels; readonly model: string }[] {
  return (domain.devices.interfaces ?? []).flatMap((nic) => {
    const network = networks.find(({ name }) => name === nic.name);
    if (!network) return [];
    const binding = nic.masquerade ? 'masquerade' : nic.bridge ? 'bridge' : '';
    const labels = { vnic_name: nic.name, binding_type: binding && 'core', network: POD_NETWORK, binding_name: binding };
    return [{ labels, model: nic.model ?? NONE }];
  });
}
