/** What machines ask of their nodes, and the most that they may have, by the names, labels and units that KubeVirt publishes. */
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { MetricSample } from '../../base/metrics.ts';
import { parseQuantity } from '../../base/quantity.ts';
import type { SpecFamily } from './vm-families.ts';

type Amount = string | number | undefined;

export const RESOURCE_FAMILIES: readonly SpecFamily<VirtualMachine>[] = [
  {
    name: 'kubevirt_vm_resource_requests',
    help: 'What the machine asks of its node.',
    samplesOf: ({ metadata: { namespace = '', name }, spec }) =>
      requestsOf(spec.template.spec).map(({ value, labels }) => ({ value, labels: { namespace, name, ...labels } })),
  },
  {
    name: 'kubevirt_vm_resource_limits',
    help: 'The most that the machine may have of its node.',
    samplesOf: ({ metadata: { namespace = '', name }, spec }) =>
      limitsOf(spec.template.spec).map(({ value, labels }) => ({ value, labels: { namespace, name, ...labels } })),
  },
];

/** Where a number comes from is told by the label `source`: of the same resource there may be several. */
function requestsOf({ domain }: VmiSpec): MetricSample[] {
  const { cpu, memory, resources } = domain;
  const ofMemory = (source: string, amount: Amount) => sample({ resource: 'memory', unit: 'bytes', source }, amount);
  const ofCpu = (unit: string, source: string, amount: Amount) => sample({ resource: 'cpu', unit, source }, amount);
  const asked = resources?.requests?.['cpu'];
  const isSilent = cpu === undefined && asked === undefined;
  return [
    ...ofMemory('domain', resources?.requests?.['memory']),
    ...ofMemory('guest', memory?.guest),
    ...(['cores', 'threads', 'sockets'] as const).flatMap((unit) =>
      ofCpu(unit, isSilent ? 'default' : 'domain', isSilent ? 1 : cpu?.[unit]),
    ),
    ...ofCpu('cores', 'requests', asked),
  ];
}

function limitsOf({ domain: { resources } }: VmiSpec): MetricSample[] {
  return [
    ...sample({ resource: 'memory', unit: 'bytes' }, resources?.limits?.['memory']),
    ...sample({ resource: 'cpu', unit: 'cores' }, resources?.limits?.['cpu']),
  ];
}

/** Nothing for what is not said, or is no amount. */
function sample(labels: Readonly<Record<string, string>>, amount: Amount): MetricSample[] {
  const value = amount === undefined ? undefined : parseQuantity(amount);
  return value ? [{ labels, value }] : [];
}
