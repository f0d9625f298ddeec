/** Takes the product out of a Kubernetes cluster: what virt-operator installed, then virt-operator. Nothing of it stays. */
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { installedResource } from '../../../api/kubevirt/installed-kinds-table.ts';
import { KUBEVIRTS } from '../../../api/kubevirt/kinds/kubevirt.ts';
import { conditionOf, type KubeObject, keyOf } from '../../../api/meta.ts';
import type { Resource } from '../../../api/resource.ts';
import { isApiError, UserError } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { readOperator } from '../../install/operator-manifest.ts';
import { requireRealCluster } from '../../install/real-cluster.ts';
import { requireRights } from '../../install/rights.ts';
import { type Missing, untilThere } from '../../install/until.ts';
import { allVms } from '../../install/vms.ts';
import { createProgress } from '../../progress.ts';

export type UninstallFlags = Omit<ConnectionFlags, 'namespace'> & { readonly force: boolean; readonly timeout: number };

const SHOWN = 10;

export async function run(deps: ClusterDeps, flags: UninstallFlags): Promise<void> {
  const { client, clock, stderr } = deps;
  const progress = createProgress(stderr, clock);
  const timeoutMs = flags.timeout * 60_000;
  const objects = readOperator(deps.manifests).toReversed();
  await requireRealCluster(client);
  await requireRights(client, [...new Set([...objects.map(resourceOf), KUBEVIRTS])], ['delete']);
  const machines = await allVms(client);
  if (machines.length > 0 && !flags.force) throw stillThere(machines);

  await progress.step('kubevirt', async (step) => {
    for (const { metadata } of await installations(client)) {
      if (flags.force) await client.patch(KUBEVIRTS, metadata, { spec: { uninstallStrategy: 'RemoveWorkloads' } });
      await client.delete(KUBEVIRTS, metadata);
    }
    const look = async () => {
      const [left] = await installations(client);
      if (!left) return undefined;
      return { text: conditionOf(left.status?.conditions, 'Degraded')?.message ?? `waiting for ${keyOf(left.metadata)}` };
    };
    await untilThere({ what: 'virt-operator does not remove the components', step, clock, timeoutMs, look });
    return machines.length > 0 ? `components and ${machines.length} machines removed` : 'components removed';
  });
  await progress.step('operator', async (step) => {
    for (const object of objects) await remove(client, object);
    const look = async () => (await whatIsLeft(client, objects))[0];
    await untilThere({ what: 'what is deleted does not go', step, clock, timeoutMs, look });
    return 'virt-operator removed';
  });
}

async function installations(client: Client) {
  try {
    return (await client.list(KUBEVIRTS)).items;
  } catch (error) {
    if (isApiError(error, 'NotFound')) return []; // not even the kind is there
    throw error;
  }
}

function stillThere(machines: readonly KubeObject[]): UserError {
  const names = machines.slice(0, SHOWN).map(({ kind, metadata }) => `${kind} ${keyOf(metadata)}`);
  return new UserError(
    'MACHINES_EXIST',
    `there ${machines.length === 1 ? 'is 1 machine' : `are ${machines.length} machines`} in this cluster`,
    {
      why: `${names.join(', ')}${machines.length > SHOWN ? ', ...' : ''}`,
      fix: 'delete them, or virtctl uninstall --force, which deletes them too; nothing was changed',
      exitCode: 4,
    },
  );
}

function resourceOf(object: KubeObject): Resource {
  return object.kind === 'Namespace' ? NAMESPACES : (installedResource(object) ?? NAMESPACES);
}

async function remove(client: Client, object: KubeObject): Promise<void> {
  await client.delete(resourceOf(object), object.metadata, { propagationPolicy: 'Foreground' });
}

async function whatIsLeft(client: Client, objects: readonly KubeObject[]): Promise<Missing[]> {
  const found = await Promise.all(objects.map(async (object) => (await client.get(resourceOf(object), object.metadata)) && object));
  return found.flatMap((object) => (object ? [{ text: `waiting for ${object.kind} ${keyOf(object.metadata)} to go` }] : []));
}
