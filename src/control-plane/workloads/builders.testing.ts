/** Objects for tests of workloads: state what matters, the rest is filled in. All are in `default`. */
import type { ContainerState, Pod } from '../../api/core/pod.ts';
import type { PodTemplate } from '../../api/core/pod-template.ts';
import { controllerReferenceTo, type KubeObject, type ObjectMeta } from '../../api/meta.ts';
import { type Decision, explain } from '../../reconcile/decision.ts';

export const NOW = Date.parse('2026-01-01T00:00:00Z');
const CREATED = '2026-01-01T00:00:00Z';
export const deleting = { deletionTimestamp: CREATED };
export const labels = { app: 'web' };

/** What every object of a test has. */
export function meta(name: string, metadata: Partial<ObjectMeta> = {}): ObjectMeta {
  return { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1', generation: 1, creationTimestamp: CREATED, ...metadata };
}

export function template(image = 'nothing:1'): PodTemplate {
  return { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } };
}

type State = 'pending' | 'unready' | 'ready' | 'Succeeded' | 'Failed';
const PHASES = { pending: 'Pending', unready: 'Running', ready: 'Running', Succeeded: 'Succeeded', Failed: 'Failed' } as const;

/** A Pod of this owner (or of nobody) in this state, on node n1 unless it is pending. */
export function podOf(owner: KubeObject | undefined, name: string, state: State = 'ready', metadata: Partial<ObjectMeta> = {}): Pod {
  const ended: ContainerState = { terminated: { exitCode: state === 'Failed' ? 1 : 0, reason: 'Error', finishedAt: CREATED } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta(name, { labels, ...(owner && { ownerReferences: [controllerReferenceTo(owner)] }), ...metadata }),
    spec: { ...template().spec, ...(state !== 'pending' && { nodeName: 'n1' }) },
    status: {
      phase: PHASES[state],
      conditions: [{ type: 'Ready', status: state === 'ready' ? 'True' : 'False', lastTransitionTime: CREATED }],
      ...((state === 'Failed' || state === 'Succeeded') && {
        containerStatuses: [{ name: 'main', image: '', imageID: '', ready: false, restartCount: 0, state: ended }],
      }),
    },
  };
}

/** What a decision says, without the part of names that is made up. */
export function said(decision: Decision): string[] {
  return explain(decision).map((line) => line.replace(/-[bcdfghjklmnpqrstvwxz2456789]{5,10}:/, '-*:'));
}
