/** What a controller wants to happen, as a value: comparing, logging or discarding it changes nothing. */
import type { KubeObject, Ref } from '../api/meta.ts';

/** Recorded on the object a decision is about, once, when the action it belongs to has succeeded. */
export type EventToRecord = { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string };

/** One write. `because` is shown to humans: it becomes the log line. */
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

export type Decision = { readonly actions: readonly Action[]; readonly lookAgainAfterMs?: number };

export const nothingToDo: Decision = { actions: [] };

/** Renders a decision as one line per action: used by logs and by tests. */
export function explain(decision: Decision): string[] {
  const lines = decision.actions.map((action) => `${action.do} ${subjectOf(action)}: ${action.because}`);
  if (decision.lookAgainAfterMs !== undefined) lines.push(`look again in ${decision.lookAgainAfterMs / 1000}s`);
  return lines;
}

/** What an action is about: `Pod default/web`. */
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
