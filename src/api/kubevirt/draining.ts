/** What is done with a machine when its node is to be empty, and which nodes are to be without anybody evicting a Pod of them. Pure. */
import type { Node } from '../core/node.ts';
import type { ClusterConfiguration } from './configuration/cluster-configuration.ts';
import type { VirtualMachineInstance } from './kinds/virtual-machine-instance.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';

export type EvictionStrategy = NonNullable<VmiSpec['evictionStrategy']>;

/** That of the installation where the machine names none: also where it was started before there was one. */
export function evictionStrategyOf(
  { spec }: Pick<VirtualMachineInstance, 'spec'>,
  { evictionStrategy }: Pick<ClusterConfiguration, 'evictionStrategy'>,
): EvictionStrategy {
  return spec.evictionStrategy ?? evictionStrategy ?? 'None';
}

/** Somebody has put the taint on it by which machines leave. */
export function hasDrainTaint(
  node: Pick<Node, 'spec'> | undefined,
  { nodeDrainTaintKey }: Pick<ClusterConfiguration, 'nodeDrainTaintKey'>,
): boolean {
  return node?.spec?.taints?.some(({ key, effect }) => key === nodeDrainTaintKey && effect === 'NoSchedule') ?? false;
}
