/** Virtual machines of a cluster, for programs: what a person does with virtctl, as calls with types. Runs in Node and in a browser. */
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Client, ListOptions } from '../client/client.ts';
import { type Followed, type FollowOptions, followKind } from './follow.ts';
import { createMachine, type Machine } from './machine.ts';
import { type NewMachine, newMachine } from './new-machine.ts';
import type { OpenStream } from './streams.ts';

export type Connected = {
  readonly client: Client;
  /** Of machines that are named without one. */
  readonly namespace: string;
  readonly openStream: OpenStream;
  readonly clock?: Clock;
};

export type Listing<T> = Promise<readonly T[]> & AsyncIterable<T>;

/** One kind: what is there, and what happens to it. */
export type Kind<T extends KubeObject> = {
  /** All at once when it is awaited; one after the other in `for await`. */
  list(options?: ListOptions & { readonly signal?: AbortSignal }): Listing<T>;
  /** Everything that is there, then every change, for as long as it is read: a connection that breaks is made again, and nothing is left out. */
  follow(options?: FollowOptions): AsyncIterable<Followed<T>>;
};

export type KubeVirt = {
  /** Every other kind, and raw requests. */
  readonly client: Client;
  readonly namespace: string;
  /** Does not ask whether there is such a machine. */
  vm(name: string, options?: { readonly namespace?: string }): Machine;
  /** Of all namespaces, unless one is asked for. */
  readonly vms: Kind<VirtualMachine>;
  readonly vmis: Kind<VirtualMachineInstance>;
  kind<T extends KubeObject>(resource: Resource<T>): Kind<T>;
  /** Makes a machine, from a manifest or from a few words; throws ApiError AlreadyExists when there is one of this name. */
  create(machine: NewMachine | VirtualMachine, options?: { readonly signal?: AbortSignal }): Promise<Machine>;
  /** The same for as long as a block: `await using vm = await kubevirt.scratch({ image })` deletes it at the end, with its instance. */
  scratch(machine: NewMachine | VirtualMachine, options?: { readonly signal?: AbortSignal }): Promise<Machine & AsyncDisposable>;
};

export function createKubeVirt({ client, namespace, openStream, clock = systemClock }: Connected): KubeVirt {
  const vm: KubeVirt['vm'] = (name, options = {}) =>
    createMachine({ client, openStream, clock, namespace: options.namespace ?? namespace, name });
  const kind = <T extends KubeObject>(resource: Resource<T>): Kind<T> => ({
    list: (options) => listing(client.list(resource, options).then(({ items }) => items)),
    follow: (options = {}) => followKind({ client, resource, clock, ...options }),
  });
  const create: KubeVirt['create'] = async (machine, { signal } = {}) => {
    const manifest = newMachine(machine, namespace);
    const made = await client.create(VMS, manifest, signal && { signal });
    return vm(made.metadata.name, { namespace: made.metadata.namespace ?? namespace });
  };
  return {
    client,
    namespace,
    vm,
    kind,
    vms: kind(VMS),
    vmis: kind(VMIS),
    create,
    async scratch(machine, options) {
      const made = await create(machine, options);
      return Object.assign(made, { [Symbol.asyncDispose]: () => made.delete({ isAwaited: true }) });
    },
  };
}

function listing<T>(items: Promise<readonly T[]>): Listing<T> {
  return Object.assign(items, {
    async *[Symbol.asyncIterator]() {
      yield* await items;
    },
  });
}
