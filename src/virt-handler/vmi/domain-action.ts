/** What `decide` may want of a guest besides writes to the API. */
import type { Decision, OtherAction } from '../../reconcile/decision.ts';
import type { DomainCommand } from './domain-command.ts';

/** What can be done to a guest besides writing to the API. */
export type DomainAction = Pick<OtherAction, 'because' | 'event'> &
  (
    | { readonly do: 'follow'; readonly podUid: string }
    | { readonly do: 'forget' }
    /** Remembers when this process saw that the guest is to stop. */
    | { readonly do: 'start grace period' }
    /** Puts the socket of a hotplugged volume into the folder of QEMU, or takes it away. */
    | { readonly do: 'link disk'; readonly volume: string; readonly attachPodUid: string }
    | { readonly do: 'unlink disk'; readonly volume: string }
    /** Sets the clock of the guest to now, as soon as its agent can be asked. */
    | { readonly do: 'set clock' }
    | { readonly do: 'command'; readonly id: string; readonly command: DomainCommand }
  );
export type DomainDecision = Decision<DomainAction>;
