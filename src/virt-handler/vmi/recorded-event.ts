/** Events that virt-handler tells of a guest. */
import type { KubeVirtEventReason } from '../../api/core/event-reasons.ts';
import type { Action, EventToRecord } from '../../reconcile/decision.ts';

/** Something went as it should. */
export function event(reason: KubeVirtEventReason, message: string): EventToRecord {
  return { type: 'Normal', reason, message };
}

/** Something that somebody may have to look at. */
export function warning(reason: KubeVirtEventReason, message: string): EventToRecord {
  return { type: 'Warning', reason, message };
}

/** An action that only tells. */
export function record(reason: KubeVirtEventReason, message: string): Action {
  return { do: 'record', because: message, event: event(reason, message) };
}
