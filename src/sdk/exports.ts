/** What programs import, wherever they run. */
export { KUBEVIRTS } from '../api/kubevirt/kinds/kubevirt.ts';
export { VMIRSS } from '../api/kubevirt/kinds/replica-set.ts';
export { type RunStrategy, type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
export { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
export type { KubeObject } from '../api/meta.ts';
export type { Resource } from '../api/resource.ts';
export { ApiError, isApiError } from '../base/errors.ts';
export type { Client } from '../client/client.ts';
export type { Followed, FollowOptions } from './follow.ts';
export { createKubeVirt, type Kind, type KubeVirt, type Listing } from './kubevirt.ts';
export type { Machine } from './machine.ts';
export type { NewMachine } from './new-machine.ts';
export type { ByteStream, ExecResult } from './streams.ts';
export type { Awaited, Seen } from './wait-for.ts';
