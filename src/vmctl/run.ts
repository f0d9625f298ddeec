/** vmctl: a machine beside a Pod, for as long as the Pod is there. */
import { PODS, type Pod } from '../api/core/pod.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import { UserError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { startCache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { runController } from '../reconcile/controller.ts';
import { changesOf } from '../reconcile/source.ts';
import type { Arguments } from './arguments.ts';
import { derivedName } from './check-name.ts';
import { checkRights, rightsOf } from './check-rights.ts';
import { decideDerived, type Observed, type Task, whoseIs } from './decide.ts';
import { findOwnPod, podNameOf } from './identity.ts';
import { removeDerived } from './remove.ts';
import { servePod } from './serve-pod.ts';

export type VmctlOptions = {
  readonly args: Arguments;
  readonly client: Client;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends with the Pod: then the machine is removed. */
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
  readonly isInPod: boolean;
};

const ADDRESS_EVERY_MS = 500;

/** Resolves when the signal has aborted and the machine is gone, or time for it is up. Throws UserError for what a person has to mend first. */
export async function runVmctl(options: VmctlOptions): Promise<void> {
  const { log, signal } = options;
  const { task, prototype } = await prepare(options);
  if (!signal.aborted) {
    const because = `vmctl was started for ${task.prototypeKey}`;
    log.info('keeping a machine', { object: keyOf(task), because, node: task.pod?.spec.nodeName });
    await keep(options, task, prototype);
  }
  // Also when we were asked to end before we began: an earlier run of this container may have left it.
  await removeDerived({ ...options, task });
}

/** Everything that can be wrong before anything is made. */
async function prepare(options: VmctlOptions): Promise<{ task: Task; prototype: VirtualMachine }> {
  const { args, client, cluster, isInPod } = options;
  const podNamespace = isInPod ? (cluster.namespace ?? 'default') : undefined;
  await checkRights(client, rightsOf(args, podNamespace));
  const pod = podNamespace === undefined ? undefined : await findOwnPod(client, podNamespace, options);
  const prototype = await client.get(VMS, { namespace: args.protoNamespace, name: args.prototype });
  if (!prototype) throw prototypeMissing(args);
  const { namespace } = args;
  const name = derivedName(args.prototype, args.hostnameOverride ?? pod?.metadata.name ?? podNameOf(options));
  const task: Task = { namespace, name, prototypeKey: keyOf(prototype.metadata), ...(pod && { pod }) };
  const found = await client.get(VMS, task);
  if (found && whoseIs(found, task) === 'foreign') throw nameTaken(task);
  return { task, prototype };
}

async function keep(options: VmctlOptions, task: Task, prototype: VirtualMachine): Promise<void> {
  const { client, cluster, clock, log, signal } = options;
  const shared = { client, clock, log, signal };
  const prototypes = startCache({ ...shared, resource: VMS, ...only(prototype.metadata) });
  const vms = startCache({ ...shared, resource: VMS, ...only(task) });
  const key = keyOf(task);
  const controller = runController<Observed>({
    ...shared,
    name: 'vmctl',
    workers: 1,
    triggers: [prototypes, vms].map((cache) => changesOf(cache, () => [key])),
    observe: () => ({ task, prototype: prototypes.get(keyOf(prototype.metadata)), vm: vms.get(key) }),
    decide: decideDerived,
    subject: () => task.pod ?? prototype,
  });
  const { pod } = task;
  const vmis = pod && startCache({ ...shared, resource: VMIS, ...only(task) });
  const service = pod && vmis && addressOf(pod, options).then((address) => servePod({ ...shared, cluster, pod, address, vmis }));
  await Promise.all([controller, service]);
}

function only({ namespace, name }: { readonly namespace?: string; readonly name: string }) {
  return { namespace, fieldSelector: `metadata.name=${name}` };
}

/** The kubelet may not have told the API yet when we look. */
async function addressOf(pod: Pod, { env, client, clock, signal }: VmctlOptions): Promise<string> {
  let address = env['POD_IP'] || pod.status?.podIP;
  while (!address && !signal.aborted) {
    await clock.sleep(ADDRESS_EVERY_MS, signal);
    address = (await client.get(PODS, pod.metadata).catch(() => undefined))?.status?.podIP;
  }
  return address ?? '';
}

function prototypeMissing({ prototype, protoNamespace }: Arguments): UserError {
  return new UserError('PROTOTYPE_MISSING', `there is no virtual machine ${protoNamespace}/${prototype} to derive from`, {
    why: `vmctl looked for it in namespace ${protoNamespace}`,
    fix: `create it, or say where it is with --proto-namespace; kubectl get vm -A shows all machines`,
    exitCode: 3,
  });
}

function nameTaken(task: Task): UserError {
  return new UserError('NAME_TAKEN', `there is a virtual machine ${keyOf(task)} already, which is not this Pod's`, {
    why: 'vmctl never touches a machine that it has not made',
    fix: `remove it (kubectl delete vm -n ${task.namespace} ${task.name}), or give --hostname-override`,
    exitCode: 4,
  });
}
