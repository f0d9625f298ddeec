/** Probes: one handler each, which can reach the guest and nothing else; and no liveness probe for a guest that starts paused. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

type Probe = NonNullable<VmiSpec['livenessProbe']>;

const MOST_WORDS = 256;
const HANDLERS = ['httpGet', 'tcpSocket', 'exec', 'guestAgentPing'] as const;

export function validateProbes(spec: VmiSpec, path: string): StatusCause[] {
  const causes = (['livenessProbe', 'readinessProbe'] as const).flatMap((name) => {
    const probe = spec[name];
    return probe ? handlerCauses(probe, { at: `${path}.${name}`, hasPodNetwork: hasPodNetwork(spec) }) : [];
  });
  const { successThreshold = 1 } = spec.livenessProbe ?? {};
  if (successThreshold > 1) causes.push(invalidCause(`${path}.livenessProbe.successThreshold`, successThreshold, 'must be 1, as for Pods'));
  if (spec.startStrategy === 'Paused' && spec.livenessProbe)
    causes.push(invalidCause(`${path}.startStrategy`, 'Paused', 'a guest that starts paused would fail its liveness probe'));
  return causes;
}

function handlerCauses(probe: Probe, { at, hasPodNetwork }: { at: string; hasPodNetwork: boolean }): StatusCause[] {
  const given = HANDLERS.filter((handler) => probe[handler]);
  if (given.length === 0) return [requiredCause(at, `a probe has one of ${HANDLERS.join(', ')}`)];
  if (given.length > 1) return [invalidCause(at, given.join(', '), 'a probe has only one handler')];
  if (probe.exec) return commandCauses(probe.exec.command, `${at}.exec.command`);
  const remote = probe.httpGet ?? probe.tcpSocket;
  if (!remote) return [];
  if (!hasPodNetwork) return [invalidCause(`${at}.${given[0]}`, {}, 'needs an interface on the Pod network')];
  // The connection is virt-handler's, or the kubelet's, which reach more than a Pod of the author does.
  if (remote.host) return [invalidCause(`${at}.${given[0]}.host`, remote.host, 'the guest itself is asked, no other host')];
  const { port } = remote;
  if (port === undefined) return [requiredCause(`${at}.${given[0]}.port`)];
  const isPort = typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65535;
  return isPort
    ? []
    : [invalidCause(`${at}.${given[0]}.port`, port, 'must be a number between 1 and 65535; names of ports are not known to the guest')];
}

function commandCauses(command: unknown, at: string): StatusCause[] {
  const words: readonly unknown[] = Array.isArray(command) ? command : [];
  if (words.length === 0 || words[0] === '') return [requiredCause(at, 'the program that is run in the guest')];
  const isCommand = words.length <= MOST_WORDS && words.every((word) => typeof word === 'string' && !word.includes('\0'));
  return isCommand ? [] : [invalidCause(at, words.length, `must be at most ${MOST_WORDS} words of text`)];
}

function hasPodNetwork({ networks = [], domain }: VmiSpec): boolean {
  return networks.length === 0 ? domain.devices.autoattachPodInterface !== false : networks.some(({ pod }) => pod);
}
