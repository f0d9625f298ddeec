/** Does to machines what people click. */
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { isMigrationFinal, MIGRATIONS } from '../api/kubevirt/kinds/migration.ts';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VM_SNAPSHOTS } from '../api/kubevirt/kinds/vm-snapshot.ts';
import { SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import type { Resource } from '../api/resource.ts';
import type { Client } from '../client/client.ts';
import { deleteExactly } from '../sdk/delete-exactly.ts';
import { machineActions } from '../sdk/machine-actions.ts';
import { newSnapshot, snapshotName } from '../sdk/manifest/snapshot.ts';
import { ACTIONS, type Action, type BulkAction, type Forbidden } from './derive-actions.ts';
import type { Machine } from './derive-machines.ts';

/** Deleted is the one that was shown, not one that has its name by now. */
export async function act(client: Client, action: Action, { namespace, name, vm, vmi }: Machine): Promise<void> {
  if (action === 'delete') return deleteExactly(client, vm ? VMS : VMIS, (vm ?? vmi)?.metadata ?? { namespace, name });
  return machineActions({ client, namespace, name })[action]();
}

/** Ends the move of a machine that is under way: the guest stays where it is. */
export async function cancelMove(client: Client, { namespace, name }: Pick<Machine, 'namespace' | 'name'>): Promise<void> {
  const { items } = await client.list(MIGRATIONS, { namespace });
  const found = items.find((each) => each.spec.vmiName === name && !isMigrationFinal(each));
  if (!found) throw new Error(`the move of ${name} is over already`);
  await deleteExactly(client, MIGRATIONS, found.metadata);
}

/** The same for what is done to many: a snapshot gets the name that its command has. */
export async function actInBulk(client: Client, action: BulkAction, machine: Machine, nowMs: number): Promise<void> {
  if (action !== 'snapshot') return act(client, action, machine);
  const { namespace, name: vm } = machine;
  await client.create(VM_SNAPSHOTS, newSnapshot({ namespace, vm, name: snapshotName(vm, nowMs) }));
}

/** What the user has no right to do in this namespace, as the API server says. */
export async function forbiddenActions(client: Client, namespace: string): Promise<Forbidden> {
  const asked: readonly BulkAction[] = [...ACTIONS, 'snapshot'];
  const answers = await Promise.all(asked.map(async (action) => [action, await may(client, namespace, rightFor(action))] as const));
  return new Set(answers.filter(([, isAllowed]) => !isAllowed).map(([action]) => action));
}

/** Whether the user may make objects of this kind. */
export async function mayCreate(client: Client, namespace: string, { group, plural }: Resource = VMS): Promise<boolean> {
  return may(client, namespace, { verb: 'create', group, resource: plural });
}

/** The right to delete objects of this kind. */
export function rightToDelete({ group, plural }: Resource): Right {
  return { verb: 'delete', group, resource: plural };
}

/** Whether the user may delete objects of this kind. */
export async function mayDelete(client: Client, namespace: string, resource: Resource): Promise<boolean> {
  return may(client, namespace, rightToDelete(resource));
}

/** Whether the user may send disks to PVCs. */
export async function mayUpload(client: Client, namespace: string): Promise<boolean> {
  return may(client, namespace, {
    verb: 'update',
    group: SUBRESOURCES_GROUP,
    resource: PERSISTENT_VOLUME_CLAIMS.plural,
    subresource: 'upload',
  });
}

/** Whether the user may attach disks to machines, or to instances that belong to none. */
export async function mayPlug(client: Client, namespace: string, isMachine: boolean): Promise<boolean> {
  const resource = isMachine ? VMS.plural : VMIS.plural;
  return may(client, namespace, { verb: 'update', group: SUBRESOURCES_GROUP, resource, subresource: 'addvolume' });
}

export type Right = { readonly verb: string; readonly group: string; readonly resource: string; readonly subresource?: string };

function rightFor(action: BulkAction): Right {
  if (action === 'snapshot') return { verb: 'create', group: VM_SNAPSHOTS.group, resource: VM_SNAPSHOTS.plural };
  if (action === 'delete') return { verb: 'delete', group: VMS.group, resource: VMS.plural };
  const resource = action === 'pause' || action === 'unpause' ? VMIS.plural : VMS.plural;
  return { verb: 'update', group: SUBRESOURCES_GROUP, resource, subresource: action };
}

/** Whether the user may do this, as the API server says. */
export async function may(client: Client, namespace: string, right: Right): Promise<boolean> {
  const response = await client.request('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace, ...right } },
    }),
  });
  return ((await response.json()) as { status?: { allowed?: boolean } }).status?.allowed === true;
}
