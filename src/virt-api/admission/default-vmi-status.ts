/**
 * The status that an instance is born with, so that nobody sees one without a phase:
 *
 *   phase                Pending, with the time
 *   memory               what the guest starts with, has and is to have: the same until it can be changed
 *   currentCPUTopology   cores, sockets and threads; what is not given counts as one
 *   runtimeUser          107
 */
import { QEMU_USER } from '../../api/launcher/compute.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

/** From a spec that is completed; parts that have another shape are left out, the schema refuses them. */
export function defaultVmiStatus(spec: unknown, at: string): JsonObject {
  const domain = part(spec, 'domain');
  const { cores, sockets, threads } = part(domain, 'cpu');
  const { guest } = part(domain, 'memory');
  return {
    phase: 'Pending',
    phaseTransitionTimestamps: [{ phase: 'Pending', phaseTransitionTimestamp: at }],
    runtimeUser: QEMU_USER,
    currentCPUTopology: { cores: count(cores), sockets: count(sockets), threads: count(threads) },
    ...((typeof guest === 'string' || typeof guest === 'number') && {
      memory: { guestAtBoot: guest, guestCurrent: guest, guestRequested: guest },
    }),
  };
}

function count(value: unknown): number {
  return Number.isInteger(value) && Number(value) > 0 ? Number(value) : 1;
}

function part(value: unknown, name: string): JsonObject {
  const inner = isObject(value) ? value[name] : undefined;
  return isObject(inner) ? inner : {};
}
