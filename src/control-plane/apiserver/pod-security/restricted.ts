/** Pod Security "restricted": baseline, and what hardened Pods must say by themselves. */
import type { Container, Pod } from '../../../api/core/pod.ts';
import { allContainers, naming, type Violation } from './violation.ts';

const VOLUME_TYPES = new Set([
  'name',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);
const SECCOMP_TYPES: readonly (string | undefined)[] = ['RuntimeDefault', 'Localhost'];

/** Every rule of the level, beyond those of baseline, that the Pod breaks. */
export function restrictedViolations(pod: Pod): Violation[] {
  return [volumeTypes(pod), escalation(pod), nonRoot(pod), seccomp(pod), capabilities(pod)].flat();
}

function volumeTypes({ spec }: Pod): Violation[] {
  const found = (spec.volumes ?? []).filter((volume) => Object.keys(volume).some((key) => !VOLUME_TYPES.has(key)));
  return found.length > 0 ? [`restricted volume types (${found.map(({ name }) => `volume ${JSON.stringify(name)}`).join(', ')})`] : [];
}

function escalation(pod: Pod): Violation[] {
  const found = allContainers(pod).filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  return found.length > 0
    ? [`allowPrivilegeEscalation != false (${naming(found)} must set securityContext.allowPrivilegeEscalation=false)`]
    : [];
}

function nonRoot(pod: Pod): Violation[] {
  const ofPod = pod.spec.securityContext?.runAsNonRoot === true;
  const isBad = ({ securityContext }: Container) => !(securityContext?.runAsNonRoot ?? ofPod);
  const found = allContainers(pod).filter(isBad);
  return found.length > 0 ? [`runAsNonRoot != true (pod or ${naming(found)} must set securityContext.runAsNonRoot=true)`] : [];
}

function seccomp(pod: Pod): Violation[] {
  const ofPod = pod.spec.securityContext?.seccompProfile?.type;
  const found = allContainers(pod).filter(({ securityContext }) => !SECCOMP_TYPES.includes(securityContext?.seccompProfile?.type ?? ofPod));
  const wanted = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return found.length > 0 ? [`seccompProfile (pod or ${naming(found)} ${wanted})`] : [];
}

function capabilities(pod: Pod): Violation[] {
  const isBad = ({ securityContext }: Container) => {
    const { add = [], drop = [] } = securityContext?.capabilities ?? {};
    return !drop.includes('ALL') || add.some((name) => name !== 'NET_BIND_SERVICE');
  };
  const found = allContainers(pod).filter(isBad);
  return found.length > 0 ? [`unrestricted capabilities (${naming(found)} must set securityContext.capabilities.drop=["ALL"])`] : [];
}
