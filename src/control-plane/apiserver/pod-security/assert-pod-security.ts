/**
 * Which Pods may be made. Pods of the embedded cluster are processes of the host, so every namespace is held to "baseline", and a label can
 * ask for more, never for less:
 *
 *   who writes the Pod                                     level
 *   group system:masters, our components                   privileged
 *   a node (mirror Pods only, see node-restriction.ts)     baseline
 *   everybody else                                         baseline, or restricted where the namespace says so
 *
 * On top of the level nobody else may run as user 0, use the image of virt-launcher, which trusts its environment, or make a Pod that
 * claims to belong to an instance of ours. And a mirror Pod, which only says what a node runs anyway, is the node's to make: no kubelet looks
 * after one. Nor does a kubelet ask whether there is room for what has its node from the beginning.
 */

import type { Pod } from '../../../api/core/pod.ts';
import { INSTALL_NAMESPACE } from '../../../api/kubevirt/names.ts';
import { mayBeLauncherImage } from '../../../api/launcher/image.ts';
import { controllerOf } from '../../../api/meta.ts';
import { deepEqual } from '../../../base/json.ts';
import type { Store } from '../../store/store.ts';
import { isMaster } from '../access/authorize.ts';
import { isMirror, nodeOf } from '../access/node-restriction.ts';
import { forbidden } from '../response/api-errors.ts';
import type { AdmissionAttributes, Identity } from '../server-parts.ts';
import { baselineViolations } from './baseline.ts';
import { restrictedViolations } from './restricted.ts';
import { allContainers, naming, type Violation } from './violation.ts';

type Level = 'baseline' | 'restricted';

const LABEL_ENFORCE = 'pod-security.kubernetes.io/enforce';
const COMPONENTS = `system:serviceaccount:${INSTALL_NAMESPACE}:`;
const MIRROR = 'mirror Pod (only a node makes Pods that stand for what it runs anyway)';
const PLACED = 'nodeName (only the scheduler gives a Pod its node, as long as that has room: use nodeSelector)';
/** Exports, backups and others have groups of their own, below it. */
const KUBEVIRT_GROUP = /^(?:[a-z0-9-]+\.)*kubevirt\.io\//;

/** Throws Forbidden with every rule that a new or changed Pod breaks. */
export function assertPodSecurity(store: Store, request: AdmissionAttributes): void {
  const { type, operation, identity, subresource, namespace = '' } = request;
  if (type.group !== '' || type.plural !== 'pods' || operation === 'DELETE' || !request.object) return;
  if (isPrivileged(identity) || subresource === 'status' || subresource === 'binding') return;
  const pod = request.object as unknown as Pod; // only Pods come here, and the schema has checked their shape
  const old = request.oldObject as unknown as Pod | undefined; // as above
  const isSame = old && deepEqual(old.spec, pod.spec) && deepEqual(old.metadata.ownerReferences, pod.metadata.ownerReferences);
  if (isSame && isMirror(old) === isMirror(pod)) return;
  const level = levelOf(store, namespace);
  const ofLevel = [...baselineViolations(pod), ...(level === 'restricted' ? restrictedViolations(pod) : [])];
  const ofNodes =
    nodeOf(identity) === undefined ? [...(isMirror(pod) ? [MIRROR] : []), ...(!old && pod.spec.nodeName ? [PLACED] : [])] : [];
  const broken = [...ofLevel, ...embeddedViolations(pod), ...ofNodes];
  if (broken.length > 0) throw forbidden(type, request.name, `violates PodSecurity "${level}:latest": ${broken.join(', ')}`);
}

function isPrivileged(identity: Identity): boolean {
  return isMaster(identity) || identity.user.startsWith(COMPONENTS);
}

/** By the label of the namespace; "privileged" is not for whoever may write labels. */
function levelOf(store: Store, namespace: string): Level {
  const found = store.get(`core/namespaces//${namespace}`)?.value as { metadata?: { labels?: Record<string, string> } } | undefined; // as stored
  return found?.metadata?.labels?.[LABEL_ENFORCE] === 'restricted' ? 'restricted' : 'baseline';
}

function embeddedViolations(pod: Pod): Violation[] {
  return [rootUser(pod), launcherImage(pod), foreignOwner(pod)].flat();
}

function rootUser(pod: Pod): Violation[] {
  const { runAsUser, runAsGroup, fsGroup } = pod.spec.securityContext ?? {};
  const isRoot = ({ securityContext: own }: { securityContext?: typeof pod.spec.securityContext }) =>
    (own?.runAsUser ?? runAsUser) === 0 || (own?.runAsGroup ?? runAsGroup) === 0;
  const found = allContainers(pod).filter(isRoot);
  if (found.length > 0)
    return [`runAsUser=0 (${naming(found)} must not run as root: Pods of the embedded cluster are processes of the host)`];
  return fsGroup === 0 ? ['fsGroup=0 (the Pod must not own files as root)'] : [];
}

function launcherImage(pod: Pod): Violation[] {
  const found = allContainers(pod).filter(({ image = '' }) => mayBeLauncherImage(image));
  return found.length > 0 ? [`virt-launcher (${naming(found)} must not use its image: only virt-controller makes such Pods)`] : [];
}

function foreignOwner(pod: Pod): Violation[] {
  const owner = controllerOf(pod);
  const isOurs = owner !== undefined && KUBEVIRT_GROUP.test(owner.apiVersion);
  return isOurs ? [`owner (only virt-controller makes Pods that are controlled by a ${owner.kind})`] : [];
}
