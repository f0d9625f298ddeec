/** Event, core/v1: what happened to an object, for people. */

import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type ObjectReference = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
};
export type Event = KubeObject & {
  readonly kind: 'Event';
  readonly involvedObject: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string; readonly host?: string };
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
};

export const EVENTS: Resource<Event> = { group: '', version: 'v1', plural: 'events', kind: 'Event', isNamespaced: true };
