/** Restarts a machine. By force it also takes the launcher Pod away, so that nothing has to wait for a guest or a node that hangs. */
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_CREATED_BY } from '../../../api/kubevirt/names.ts';
import { isLauncherOf } from '../../../api/launcher/pod-name.ts';
import type { ClusterDeps } from '../../deps.ts';
import { callVm } from '../../lifecycle/call-subresource.ts';
import { type ForceFlags, requireBoth } from '../../lifecycle/force-flags.ts';
import { vmTargets } from '../../vm-target.ts';

export async function run(deps: ClusterDeps, flags: ForceFlags, ...words: string[]): Promise<void> {
  const { force, gracePeriod, dryRun } = flags;
  requireBoth(flags);
  const names = force && !dryRun ? vmTargets('restart', words).map(({ name }) => name) : [];
  const pods = (await Promise.all(names.map((name) => launcherPods(deps, name)))).flat();
  await callVm(deps, { verb: 'restart', flags, words, body: force ? { gracePeriodSeconds: gracePeriod } : {} });
  for (const { metadata } of pods)
    await deps.client.delete(PODS, metadata, {
      uid: metadata.uid,
      ...(gracePeriod !== undefined && { gracePeriodSeconds: gracePeriod }),
    });
}

/** The Pods of the instance that runs now: a restart makes another. */
async function launcherPods({ client, namespace }: ClusterDeps, name: string): Promise<readonly Pod[]> {
  const vmi = await client.get(VMIS, { namespace, name });
  if (!vmi) return [];
  const { items } = await client.list(PODS, { namespace, labelSelector: `${LABEL_CREATED_BY}=${vmi.metadata.uid}` });
  return items.filter((pod) => isLauncherOf(pod, vmi));
}
