/** Gathers everything that may matter for an installation: what is wanted, what is stored, how the components are, and when it goes, who is left. */

import type { ConfigMap } from '../../api/core/configmap.ts';
import { NODES } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { Secret } from '../../api/core/secret.ts';
import { UPLOAD_TOKENS } from '../../api/importer/upload.ts';
import { MACHINE_KINDS, orderOf } from '../../api/kubevirt/installed-kinds-table.ts';
import { CDI_CONFIGS } from '../../api/kubevirt/kinds/cdi-config.ts';
import { DATA_VOLUMES } from '../../api/kubevirt/kinds/data-volume.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { isDeleting, type KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { isApiError, messageOf } from '../../base/errors.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { hasForeignCdi } from '../../client/foreign-cdi.ts';
import { keepCertificates } from '../certificates/keep-certificates.ts';
import { unusedPatch } from '../customize/customize-object.ts';
import { type DesiredState, desiredObjects } from '../objects/desired-objects.ts';
import { identityOf, isManaged } from '../objects/marks.ts';
import { matchesDesired } from '../objects/matches-desired.ts';
import { CERTIFICATES } from '../render/options.ts';
import type { Problem } from '../status/status.ts';
import { decideHealth, isWorking, type Workload } from './decide-health.ts';
import { ourMarks } from './decide-removal.ts';
import { isOldest } from './is-oldest.ts';
import type { InstallationObserved } from './observed.ts';
import { type Defaults, renderOptionsFrom } from './render-options.ts';

export type ObserveOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly kubeVirts: Cache<KubeVirt>;
  readonly pods: Cache<Pod>;
  /** Of every kind that an installation is made of. */
  readonly installed: readonly Cache<KubeObject>[];
  /** The objects of deploy/. */
  readonly manifests: readonly KubeObject[];
  /** Not of a kind that this cluster is too old for. */
  readonly isServed: (object: KubeObject) => boolean;
  readonly defaults: Defaults;
  readonly spreadMs: number;
  /** Why this cluster cannot be served. */
  readonly unsupported: () => Promise<Problem | undefined>;
};

const WORKLOADS = ['Deployment virt-api', 'Deployment virt-controller', 'DaemonSet virt-handler'];
const WORKLOAD_KIND = /^(Deployment|DaemonSet)$/;
const NEEDS_VIRT_API: ReadonlySet<string> = new Set(['APIService', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']);

export async function observeInstallation(key: string, options: ObserveOptions): Promise<InstallationObserved | undefined> {
  const kubeVirt = options.kubeVirts.get(key);
  if (!kubeVirt) return undefined;
  const { clock, manifests, defaults, pods } = options;
  // What a CDI has, too, is its own, where there is one: neither changed nor removed, though it once was ours.
  const isLeftAlone = (await hasForeignCdi(options.client)) ? isOfCdi : () => false;
  const stored = new Map([...storedObjects(options.installed)].filter(([, object]) => !isLeftAlone(object)));
  const { certificates, nextAt } = await certificatesFor(kubeVirt, stored, options);
  const { objects, uncustomized } = customizedObjects(kubeVirt.spec.customizeComponents, {
    manifests,
    options: renderOptionsFrom(kubeVirt, defaults),
    certificates: certificates.objects,
    authorities: certificates.authorities,
  });
  const desired = objects.filter((object) => options.isServed(object) && !isLeftAlone(object));
  const pairings = desired.map((object) => {
    const found = stored.get(identityOf(object));
    // One that goes is made again when it is gone; what cannot be made as it is asked for stays as it is.
    const isHeld = uncustomized !== undefined && WORKLOAD_KIND.test(object.kind);
    const isCurrent = found !== undefined && (isDeleting(found) || isHeld || matchesDesired(found, object));
    return { desired: object, isStored: found !== undefined, isCurrent, needsVirtApi: NEEDS_VIRT_API.has(object.kind) };
  });
  const workloads = WORKLOADS.map((each) => stored.get(`apps/v1 ${each.replace(' ', ` ${defaults.namespace}/`)}`) as Workload | undefined);
  const wasReady = kubeVirt.status?.observedKubeVirtVersion !== undefined;
  const { version } = defaults;
  const label = kubeVirt.spec.productVersion || version;
  const health = decideHealth({ workloads, pods: pods.list(), version: label, wasReady });
  const { problem } = health;
  const stage = uncustomized && health.stage === 'ready' ? 'degraded' : health.stage;
  // What else is put in place in the same go is there when the status is written; new Pods take their time.
  const isAsDesired = pairings.every(({ isCurrent, desired: { kind } }) => isCurrent || !WORKLOAD_KIND.test(kind));
  const isReady = stage === 'ready' && isAsDesired;
  const isDesired = new Set(desired.map(identityOf));
  const now = clock.now();
  return {
    kubeVirt,
    isTheOne: isOldest(kubeVirt, options.kubeVirts.list()),
    pairings,
    stored: [...stored.values()].sort((a, b) => orderOf(a) - orderOf(b)),
    surplus: [...stored].filter(([identity, object]) => !isDesired.has(identity) && !isDeleting(object)).map(([, object]) => object),
    isVirtApiWorking: isWorking(workloads[0]),
    installation: {
      stage: stage === 'ready' && !isAsDesired ? (wasReady ? 'updating' : 'deploying') : stage,
      version,
      operatorImage: defaults.image,
      ...(isReady && { runningVersion: version }),
      architecture: 'amd64',
      now,
    },
    problem: uncustomized ?? problem,
    unsupported: await options.unsupported(),
    ...(isDeleting(kubeVirt) ? await whatIsLeft(options.client) : { virtualMachines: [], markedNodes: [] }),
    lookAgainAfterMs: Math.max(nextAt - now, 1_000),
  };
}

const OF_CDI: ReadonlySet<string> = new Set([
  `CustomResourceDefinition ${DATA_VOLUMES.plural}.${DATA_VOLUMES.group}`,
  `CustomResourceDefinition ${CDI_CONFIGS.plural}.${CDI_CONFIGS.group}`,
  `APIService ${UPLOAD_TOKENS.version}.${UPLOAD_TOKENS.group}`,
]);

function isOfCdi({ kind, metadata }: KubeObject): boolean {
  return OF_CDI.has(`${kind} ${metadata.name}`);
}

/** What is wanted; as it would be without them, and the reason, where changes that are asked for cannot be made. */
function customizedObjects(
  customize: KubeVirt['spec']['customizeComponents'],
  state: DesiredState,
): { objects: KubeObject[]; uncustomized?: Problem } {
  try {
    const objects = desiredObjects({ ...state, customize });
    const unused = unusedPatch(objects, customize);
    return unused === undefined ? { objects } : { objects, uncustomized: notCustomized(unused) };
  } catch (error) {
    return { objects: desiredObjects(state), uncustomized: notCustomized(messageOf(error)) };
  }
}

function notCustomized(sentence: string): Problem {
  return { reason: 'InvalidConfiguration', message: `The components stay as they are: ${sentence}` };
}

function storedObjects(caches: readonly Cache<KubeObject>[]): Map<string, KubeObject> {
  return new Map(caches.flatMap((cache) => cache.list()).map((object) => [identityOf(object), object]));
}

function certificatesFor(
  kubeVirt: KubeVirt,
  stored: ReadonlyMap<string, KubeObject>,
  { clock, defaults: { namespace }, spreadMs }: ObserveOptions,
): ReturnType<typeof keepCertificates> {
  const secret = (name: string) => stored.get(`v1 Secret ${namespace}/${name}`) as Secret | undefined; // its identity says so
  const bundle = stored.get(`v1 ConfigMap ${namespace}/${CERTIFICATES.authorities}`) as ConfigMap | undefined;
  return keepCertificates({ kubeVirt, namespace, secret, bundle, spreadMs, now: clock.now() });
}

async function whatIsLeft(client: Client): Promise<Pick<InstallationObserved, 'virtualMachines' | 'markedNodes'>> {
  const lists = await Promise.all(MACHINE_KINDS.map((resource) => client.list(resource).catch(noneWhenUnknown)));
  const { items: nodes } = await client.list(NODES);
  const isMarked = (node: KubeObject) => Object.values(ourMarks(node)).some((keys) => keys.length > 0);
  const made = lists.flatMap(({ items }) => items).filter((object) => !isManaged(object));
  return { virtualMachines: made, markedNodes: nodes.filter(isMarked) };
}

/** A kind whose definition is gone has no objects. */
function noneWhenUnknown(error: unknown): { items: readonly KubeObject[] } {
  if (isApiError(error, 'NotFound')) return { items: [] };
  throw error;
}
