/**
 * Which ports of a guest are opened and closed now, at the address of its Pod.
 *
 *   what is seen                                                             what follows
 *   QEMU cannot be asked yet                                                 look again
 *   a UDP port that somebody can ask for is not open                         open it: whether somebody listens cannot be seen
 *   a TCP port that somebody can ask for is not open, and the guest takes    open it
 *   connections there
 *   a TCP port is open, and the guest takes none there                       close it: the kernel refuses clients then, as a guest would
 *   a port at a number of no meaning that nobody uses any more               close it
 *
 * `decide-forwards.ts` has the list of the ports that somebody can ask for, `port-verdicts.ts` says at which the guest takes connections. While
 * that is not known, what is there stays. Pure.
 */
import type { Protocol } from '../../api/handler/route-path.ts';
import type { Decision, OtherAction } from '../../reconcile/decision.ts';
import { type GuestPort, wantedPorts } from './decide-forwards.ts';
import type { OpenForward } from './forwards.ts';
import type { ObservedNetwork } from './observe.ts';
import { isToBeOpen } from './port-verdicts.ts';

type Place = { readonly protocol: Protocol; readonly address: string; readonly port: number };
export type NetworkAction = Pick<OtherAction, 'because' | 'event'> &
  (({ readonly do: 'open port' } & Place) | ({ readonly do: 'close port'; readonly guestPort: number } & Place));

const ASK_AGAIN_MS = 500;

/** Applies the rules above. */
export function decideNetwork(seen: ObservedNetwork): Decision<NetworkAction> {
  const { open, verdicts, address } = seen;
  if (!open) return { actions: [], lookAgainAfterMs: ASK_AGAIN_MS };
  const isTaken = (port: number) => verdicts && isToBeOpen(verdicts, port);
  const isMissing = ({ protocol, port }: GuestPort) =>
    !open.some((each) => each.use === 'lasting' && each.protocol === protocol && each.guestPort === port) &&
    (protocol === 'udp' || isTaken(port) === true);
  const whyClosed = ({ protocol, guestPort, use }: OpenForward) => {
    if (use === 'stray') return 'it was for a connection that is over';
    return use === 'lasting' && protocol === 'tcp' && isTaken(guestPort) === false ? 'the guest takes no connections there' : undefined;
  };
  return {
    actions: [
      ...wantedPorts(seen)
        .filter(isMissing)
        .map(({ protocol, port }) => ({ do: 'open port', protocol, port, address, because: whyOpen(protocol) }) as const),
      ...open.flatMap((each) => {
        const because = whyClosed(each);
        const { protocol, hostPort: port, guestPort } = each;
        return because === undefined ? [] : [{ do: 'close port', protocol, port, guestPort, address, because } as const];
      }),
    ],
  };
}

/** The TCP ports that have to be looked at: those that somebody can ask for, and those that are open. */
export function portsToLookAt(seen: ObservedNetwork): number[] {
  const wanted = wantedPorts(seen).flatMap(({ protocol, port }) => (protocol === 'tcp' ? port : []));
  const open = (seen.open ?? []).flatMap(({ protocol, use, guestPort }) => (protocol === 'tcp' && use === 'lasting' ? guestPort : []));
  return [...new Set([...wanted, ...open])];
}

function whyOpen(protocol: Protocol): string {
  return protocol === 'udp' ? 'it is declared or served' : 'the guest takes connections there';
}
