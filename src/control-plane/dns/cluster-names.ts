/** What the name server knows of the cluster: everything by its name or address, nothing to search through. */
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';

export type ClusterNames = {
  service(namespace: string, name: string): Service | undefined;
  slices(namespace: string, name: string): readonly EndpointSlice[];
  machine(namespace: string, name: string): VirtualMachineInstance | undefined;
  hasNamespace(name: string): boolean;
  serviceAt(address: string): Service | undefined;
  podAt(address: string): Pod | undefined;
};
