/** Probes: one handler each, which can reach the guest; and no liveness probe for a guest that starts paused. */
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedProbe, CheckedSpec } from './checked-spec.ts';

const HANDLERS = ['httpGet', 'tcpSocket', 'exec', 'guestAgentPing'] as const;

export function validateProbes(spec: CheckedSpec, path: string): StatusCause[] {
  const causes = (['livenessProbe', 'readinessProbe'] as const).flatMap((name) => {
    const probe = spec[name];
    return probe ? handlerCauses(probe, { at: `${path}.${name}`, hasPodNetwork: hasPodNetwork(spec) }) : [];
  });
  if (spec.startStrategy === 'Paused' && spec.livenessProbe)
    causes.push(invalidCause(`${path}.startStrategy`, 'Paused', 'a guest that starts paused would fail its liveness probe'));
  return causes;
}

function handlerCauses(probe: CheckedProbe, { at, hasPodNetwork }: { at: string; hasPodNetwork: boolean }): StatusCause[] {
  const given = HANDLERS.filter((handler) => probe[handler]);
  if (given.length === 0) return [requiredCause(at, `a probe has one of ${HANDLERS.join(', ')}`)];
  if (given.length > 1) return [invalidCause(at, given.join(', '), 'a probe has only one handler')];
  const remote = probe.httpGet ?? probe.tcpSocket;
  if (!remote) return [];
  if (!hasPodNetwork) return [invalidCause(`${at}.${given[0]}`, {}, 'needs an interface on the Pod network')];
  const { port } = remote;
  if (port === undefined) return [requiredCause(`${at}.${given[0]}.port`)];
  const isPort = typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65535;
  return isPort
    ? []
    : [invalidCause(`${at}.${given[0]}.port`, port, 'must be a number between 1 and 65535; names of ports are not known to the guest')];
}

function hasPodNetwork({ networks = [], domain }: CheckedSpec): boolean {
  return networks.length === 0 ? domain?.devices?.autoattachPodInterface !== false : networks.some(({ pod }) => pod);
}
