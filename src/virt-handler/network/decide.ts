/**
 * Which ports of a guest are opened now.
 *
 *   what is seen                                              what follows
 *   a port that somebody can ask for is not open yet          open it (`decide-forwards.ts` has the list)
 *   the guest declares none, and has not had the usual ones   open those that the system lets QEMU listen at, once for each Pod
 *
 * Nothing is closed: QEMU ends with its Pod. Pure.
 */
import type { Protocol } from '../../api/handler/route-path.ts';
import type { Decision, OtherAction } from '../../reconcile/decision.ts';
import { decideForwards, type GuestPort, portId, usualPorts } from './decide-forwards.ts';
import type { ObservedNetwork } from './observe.ts';

export type NetworkAction = Pick<OtherAction, 'because' | 'event'> &
  (
    | { readonly do: 'open port'; readonly protocol: Protocol; readonly port: number; readonly address: string }
    | { readonly do: 'open usual ports'; readonly address: string; readonly ports: readonly GuestPort[] }
  );

/** Applies the rules above. */
export function decideNetwork({ opened, ...seen }: ObservedNetwork): Decision<NetworkAction> {
  const { vmi, address } = seen;
  const missing = decideForwards(seen).filter((port) => !opened?.ports.has(portId(port)));
  const usual = opened?.hasUsual ? [] : usualPorts(vmi);
  return {
    actions: [
      ...missing.map((port) => ({ do: 'open port', ...port, address, because: 'it is declared, served or probed' }) as const),
      ...(usual.length > 0 ? [{ do: 'open usual ports', address, ports: usual, because: 'the guest declares no ports' } as const] : []),
    ],
  };
}
