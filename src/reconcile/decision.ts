/** What a controller wants to happen, as a value: comparing, logging or discarding it changes nothing. */
import type { EventReason } from '../api/core/event-reasons.ts';
import type { KubeObject, Ref } from '../api/meta.ts';

/** Recorded on the object a decision is about, once, when the action it belongs to has succeeded. */
export type EventToRecord = {
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
  /** Another object than the one that the decision is about. */
  readonly about?: KubeObject;
};

/** One write to the API. `because` is shown to humans: it becomes the log line. */
export type Action = { readonly because: string; readonly event?: EventToRecord } & (
  | { readonly do: 'create'; readonly object: KubeObject }
  /** Makes the stored object say what this one says, field by field, and creates it when there is none. */
  | { readonly do: 'apply'; readonly object: KubeObject }
  /** A merge patch; `resourceVersion` makes it conditional on the object being as observed. */
  | {
      readonly do: 'patch';
      readonly target: Ref;
      readonly patch: object;
      readonly subresource?: 'status';
      readonly resourceVersion?: string;
    }
  | {
      readonly do: 'delete';
      readonly target: Ref;
      readonly gracePeriodSeconds?: number;
      readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
      readonly resourceVersion?: string;
    }
  /** Gives a Pod its node: the one write that is neither a create nor a patch of the object itself. */
  | { readonly do: 'bind'; readonly pod: Ref; readonly nodeName: string }
  /** Only an event, no write to any object. */
  | { readonly do: 'record'; readonly event: EventToRecord }
);

/**
 * Something else than a write to the API, such as a command to QEMU or a process to start: a controller that decides on these performs them
 * with its `act`. Of its own fields, texts and numbers are shown in logs; what is long or secret goes into an object.
 */
export type OtherAction = { readonly do: string; readonly because: string; readonly event?: EventToRecord };

/** Performed in this order, each after the one before it has succeeded, writes and others alike. */
export type Decision<Other extends OtherAction = never> = {
  readonly actions: readonly (Action | Other)[];
  readonly lookAgainAfterMs?: number;
};

export const nothingToDo: Decision = { actions: [] };

const WRITES: Readonly<Record<Action['do'], true>> = { create: true, apply: true, patch: true, delete: true, bind: true, record: true };

/** Whether the loop itself performs this action. */
export function isWrite(action: Action | OtherAction): action is Action {
  return Object.hasOwn(WRITES, action.do);
}

/** Renders a decision as one line per action: used by logs and by tests. */
export function explain(decision: Decision<OtherAction>): string[] {
  const lines = decision.actions.map((action) => `${summaryOf(action)}: ${action.because}`);
  if (decision.lookAgainAfterMs !== undefined) lines.push(`look again in ${decision.lookAgainAfterMs / 1000}s`);
  return lines;
}

/** What is done to what: `patch Pod default/web`, `start compute`. */
export function summaryOf(action: Action | OtherAction): string {
  return isWrite(action) ? `${action.do} ${subjectOf(action)}` : [action.do, ...Object.values(detailsOf(action))].join(' ');
}

/** The texts and numbers of an action that is no write, by their names. */
export function detailsOf({ do: _do, because: _because, event: _event, ...own }: OtherAction): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries<unknown>(own).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, value]] : [],
    ),
  );
}

/** What a write is about: `Pod default/web`. */
export function subjectOf(action: Action): string {
  switch (action.do) {
    case 'apply':
    case 'create': {
      const { name, generateName, namespace } = action.object.metadata;
      return `${action.object.kind} ${namespace ?? ''}/${name || `${generateName}*`}`;
    }
    case 'patch':
      return `${action.target.kind}${action.subresource ? ` ${action.subresource}` : ''} ${action.target.namespace ?? ''}/${action.target.name}`;
    case 'delete':
      return `${action.target.kind} ${action.target.namespace ?? ''}/${action.target.name}`;
    case 'bind':
      return `${action.pod.kind} ${action.pod.namespace ?? ''}/${action.pod.name} to ${action.nodeName}`;
    case 'record':
      return `event ${action.event.reason}`;
  }
}
