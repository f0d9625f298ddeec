/** What is to be said of a node. Pure. */
import type { Node } from '../api/core/node.ts';
import { LABEL_SCHEDULABLE } from '../api/kubevirt/names.ts';
import { conditionOf } from '../api/meta.ts';
import { escapeToOneLine } from '../base/escape-unprintable.ts';

/** Conditions that are not as they should be, and whether machines go there; empty where all is well. */
export function deriveFindings({ metadata, spec, status }: Node): string[] {
  const ready = conditionOf(status?.conditions, 'Ready');
  const told = ({ type, reason, message }: { readonly type: string; readonly reason?: string; readonly message?: string }) =>
    escapeToOneLine(`${type}: ${message || reason || 'nobody says why'}`);
  const others = (status?.conditions ?? []).filter(({ type, status }) => type !== 'Ready' && status === 'True');
  return [
    ...(ready?.status === 'True' ? [] : [ready ? told({ ...ready, type: 'Not ready' }) : 'It has never said that it is ready.']),
    ...others.map(told),
    ...(spec?.unschedulable ? ['Cordoned: nothing new is placed here.'] : []),
    ...(metadata.labels?.[LABEL_SCHEDULABLE] === 'true' ? [] : ['No machine is placed here: no virt-handler of it answers.']),
  ];
}
