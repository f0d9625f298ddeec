/** What a Pod may ask for that containers here cannot have; the reason is shown to people. Pure. */
import type { Container, Pod } from '../../../api/core/pod.ts';
import { refusedCapabilities } from './oci-config.ts';
import { securityOf } from './security-of.ts';

type Rule = readonly [why: string, applies: (pod: Pod) => boolean];

const all = ({ spec }: Pod): Container[] => [...(spec.initContainers ?? []), ...spec.containers];

const NO_PTRACE =
  'in a Pod with shareProcessNamespace a process could be entered that is not of a container; SYS_PTRACE is for `kubectl debug --target=CONTAINER` of other Pods';

/** First match wins. */
const RULES: readonly Rule[] = [
  ['hostNetwork is not offered: Pods of the embedded cluster have their own network', ({ spec }) => spec.hostNetwork === true],
  ['hostPID is not offered: containers do not see the processes of the host', ({ spec }) => spec.hostPID === true],
  ['hostIPC is not offered: containers do not share memory with the host', ({ spec }) => spec.hostIPC === true],
  [
    'privileged containers are not offered: containers run without rights on the host',
    (pod) => all(pod).some((each) => securityOf(pod, each).privileged === true),
  ],
  [
    'volumeDevices are not offered: containers have no block devices',
    (pod) => all(pod).some(({ volumeDevices = [] }) => volumeDevices.length > 0),
  ],
  [
    'hostPath volumes are not mounted into containers: their files are of other users',
    ({ spec }) => (spec.volumes ?? []).some(({ hostPath }) => hostPath !== undefined),
  ],
  [
    'host ports are not offered: use a Service of type NodePort',
    (pod) => all(pod).some(({ ports = [] }) => ports.some(({ hostPort }) => hostPort)),
  ],
];

/** Undefined when it can run. */
export function whyNotNative(pod: Pod): string | undefined {
  const found = RULES.find(([, applies]) => applies(pod))?.[0];
  if (found) return found;
  const refused = all(pod).flatMap((each) => refusedCapabilities(pod, each));
  if (refused.length === 0) return undefined;
  const instead = pod.spec.shareProcessNamespace && refused.some((name) => /^(CAP_)?SYS_PTRACE$/i.test(name)) ? `: ${NO_PTRACE}` : '';
  return `capabilities ${refused.join(', ')} are not offered${instead}`;
}
