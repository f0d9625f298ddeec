/** The aggregated API of machines as its clients and its server see it: group, versions, paths, and what a path may ask for. */
import type { ConsoleQuestion, ScreenQuestion, ScreenshotQuestion } from '../handler/questions.ts';

export const SUBRESOURCES_GROUP = 'subresources.kubevirt.io';
/** The first is the one that clients use. */
export const SUBRESOURCE_VERSIONS = ['v1', 'v1alpha3'] as const;
/** What a WebSocket agrees on: bytes, and nothing around them. */
export const STREAM_SUBPROTOCOL = 'plain.kubevirt.io';

export type MachineResource = 'virtualmachines' | 'virtualmachineinstances' | 'offlinevirtualmachines' | 'virtualmachineinstanceconfigs';
export type Machine = { readonly resource: MachineResource; readonly namespace: string; readonly name: string };

/** What each subresource may be asked in its query. */
export type SubresourceQueries = {
  readonly console: ConsoleQuestion;
  readonly vnc: ScreenQuestion;
  readonly 'vnc/screenshot': ScreenshotQuestion;
  readonly logs: { readonly previous?: boolean };
};
type QueryOf<Name extends string> = Name extends keyof SubresourceQueries ? SubresourceQueries[Name] : Record<never, never>;

/** The path of what does not belong to a machine: `version`. */
export function subresourceGroupPath(what: string, version: (typeof SUBRESOURCE_VERSIONS)[number] = SUBRESOURCE_VERSIONS[0]): string {
  return `/apis/${SUBRESOURCES_GROUP}/${version}/${what}`;
}

/** The path of a subresource of a machine, with its query. */
export function subresourcePath<Name extends string>(
  { resource, namespace, name }: Machine,
  subresource: Name,
  query?: QueryOf<Name>,
): string {
  const path = subresourceGroupPath(`namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}/${subresource}`);
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}

/** The path of a port of a machine. */
export function portForwardPath(machine: Machine, port: number, protocol: 'tcp' | 'udp'): string {
  return subresourcePath(machine, `portforward/${port}/${protocol}`);
}
