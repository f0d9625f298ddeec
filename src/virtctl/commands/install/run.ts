/** Puts the product into a Kubernetes cluster: virt-operator, then the KubeVirt object that makes it install the rest. */
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import type { InstallationReason } from '../../../api/kubevirt/condition-reasons.ts';
import { DEPLOYMENTS, installedResource } from '../../../api/kubevirt/installed-kinds-table.ts';
import { KUBEVIRTS, type KubeVirt } from '../../../api/kubevirt/kinds/kubevirt.ts';
import { INSTALL_NAMESPACE } from '../../../api/kubevirt/names.ts';
import { conditionOf, hasCondition, type KubeObject } from '../../../api/meta.ts';
import type { Resource } from '../../../api/resource.ts';
import { isApiError } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { type ImageFlags, kubeVirtFrom, operatorImageOf, readOperator, withImages } from '../../install/operator-manifest.ts';
import { requireRealCluster } from '../../install/real-cluster.ts';
import { requireRights } from '../../install/rights.ts';
import { type Missing, untilThere } from '../../install/until.ts';
import { createProgress } from '../../progress.ts';

export type InstallFlags = Omit<ConnectionFlags, 'namespace'> & ImageFlags & { readonly timeout: number };

export async function run(deps: ClusterDeps, flags: InstallFlags): Promise<void> {
  const { client, clock, stderr } = deps;
  const progress = createProgress(stderr, clock);
  const note = (text: string) => stderr.write(`  note: ${text}\n`);
  const objects = readOperator(deps.manifests).map((object) => withImages(object, flags));
  const timeoutMs = flags.timeout * 60_000;

  await progress.step('cluster', () => requireRealCluster(client));
  await progress.step('rights', async () => {
    await requireRights(client, [...new Set([...objects.map(resourceOf), KUBEVIRTS])], ['get', 'create', 'patch']);
    return 'you may install';
  });
  await progress.step('operator', async (step) => {
    for (const object of objects) await apply(client, object);
    await untilThere({ what: 'virt-operator does not start', step, clock, timeoutMs, note, look: () => whatOperatorLacks(client) });
    return 'virt-operator runs';
  });
  await progress.step('kubevirt', async (step) => {
    const at = await applyKubeVirt(deps, flags);
    const look = async () => whatIsLacking(await client.get(KUBEVIRTS, at), operatorImageOf(objects));
    await untilThere({ what: 'the components do not start', step, clock, timeoutMs, note, look });
    return 'all components are ready';
  });
  if (!(await hasDefaultStorageClass(client)))
    note(
      'there is no default storage class: PVCs must name theirs (kubectl get storageclass), or annotate one with storageclass.kubernetes.io/is-default-class=true',
    );
}

function resourceOf(object: KubeObject): Resource {
  const found = object.kind === 'Namespace' ? NAMESPACES : installedResource(object);
  if (!found) throw new Error(`${object.apiVersion} ${object.kind} is not a kind of an installation`);
  return found;
}

async function apply(client: Client, object: KubeObject): Promise<void> {
  await client.patch(resourceOf(object), object.metadata, object, { type: 'apply' });
}

/** The one that is there, whatever its name, keeps what people wrote into it. */
async function applyKubeVirt({ client, clock }: ClusterDeps, flags: ImageFlags): Promise<{ namespace?: string; name: string }> {
  const wanted = kubeVirtFrom(flags);
  for (;;) {
    try {
      const [existing] = (await client.list(KUBEVIRTS)).items;
      if (!existing) await client.create(KUBEVIRTS, wanted);
      else if (Object.keys(wanted.spec).length > 0) await client.patch(KUBEVIRTS, existing.metadata, { spec: wanted.spec });
      return existing?.metadata ?? wanted.metadata;
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error; // the new kind is not served for a moment
      await clock.sleep(200);
    }
  }
}

type Deployment = KubeObject & {
  readonly status?: Partial<Readonly<Record<'replicas' | 'readyReplicas' | 'observedGeneration' | 'updatedReplicas', number>>>;
};

async function whatOperatorLacks(client: Client): Promise<Missing | undefined> {
  const deployment = (await client.get(DEPLOYMENTS, { namespace: INSTALL_NAMESPACE, name: 'virt-operator' })) as Deployment | undefined;
  const { readyReplicas = 0, updatedReplicas = 0, replicas = updatedReplicas, observedGeneration = 0 } = deployment?.status ?? {};
  const isObserved = observedGeneration >= (deployment?.metadata.generation ?? 0);
  // One of an older version would take the KubeVirt object for its own, and call it deployed.
  if (isObserved && readyReplicas > 0 && updatedReplicas > 0 && replicas === updatedReplicas) return undefined;
  const { items } = await client.list(PODS, { namespace: INSTALL_NAMESPACE, labelSelector: 'kubevirt.io=virt-operator' });
  return items.flatMap((pod) => whatPodLacks(pod) ?? [])[0] ?? { text: 'waiting for virt-operator' };
}

function whatPodLacks({ metadata: { name }, status, spec }: Pod): Missing | undefined {
  const { reason = '' } = status?.containerStatuses?.[0]?.state?.waiting ?? {};
  const image = spec.containers[0]?.image;
  if (/ImagePull|InvalidImage/.test(reason))
    return { text: `the image ${image} cannot be pulled: push it there, or name another with --registry and --tag`, needsHelp: true };
  if (reason === 'CrashLoopBackOff')
    return { text: `virt-operator ends again and again: kubectl -n ${INSTALL_NAMESPACE} logs ${name}`, needsHelp: true };
  const scheduled = conditionOf(status?.conditions, 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  const why = scheduled.message ?? scheduled.reason;
  return { text: `no node takes virt-operator: ${why} Add a Linux node, make room on one, or uncordon one.`, needsHelp: true };
}

/** Reasons that are the course of things. */
const ON_ITS_WAY: ReadonlySet<string> = new Set<InstallationReason>(['DeploymentInProgress', 'UpdateInProgress', 'ComponentsNotReady']);

function whatIsLacking(kubeVirt: KubeVirt | undefined, operatorImage: string | undefined): Missing | undefined {
  const { status, metadata } = kubeVirt ?? {};
  // The word of the operator before this one says nothing of what was asked for now.
  if (status?.targetDeploymentID !== operatorImage) return { text: 'waiting for virt-operator' };
  const isObserved =
    status?.observedGeneration === metadata?.generation && status?.observedKubeVirtVersion === status?.targetKubeVirtVersion;
  const available = conditionOf(status?.conditions, 'Available');
  if (isObserved && available?.status === 'True' && hasCondition(status?.conditions, 'Progressing', 'False')) return undefined;
  if (!available?.message) return { text: 'waiting for virt-operator' };
  return { text: available.message, needsHelp: !ON_ITS_WAY.has(available.reason ?? '') };
}

const STORAGE_CLASSES: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  isNamespaced: false,
};

async function hasDefaultStorageClass(client: Client): Promise<boolean> {
  const { items } = await client.list(STORAGE_CLASSES);
  return items.some(({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true');
}
