/** Paths of the aggregated API, for its clients; what they may name and ask follows from the tables that its servers are made of. */
import { queryOf } from '../handler/message.ts';
import type { Protocol } from '../handler/route-path.ts';
import type { GuestSubresourceName, QuestionOf } from '../handler/routes.ts';
import { VM_EXPORTS } from './kinds/vm-export.ts';
import { SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP, type VmResource } from './subresources.ts';
import { EXPAND_VM_SPEC, type VIRT_API_SUBRESOURCES } from './subresources-table.ts';

export type SubresourceTarget = { readonly resource: VmResource; readonly namespace: string; readonly name: string };

type OfVirtApi = keyof typeof VIRT_API_SUBRESOURCES extends `${string}/${infer Name}` ? Name : never;
/** Ports and exports have paths of their own. */
export type SubresourceName = Exclude<GuestSubresourceName | OfVirtApi, 'portforward' | 'volumes' | 'internal' | 'external'>;
/** What each may be asked in its query; `previous` is the run before. */
export type SubresourceQuery<Name extends SubresourceName> = Name extends 'console' | 'vnc' | 'vnc/screenshot'
  ? QuestionOf<Name>
  : Name extends 'logs'
    ? { readonly previous: boolean }
    : Readonly<Record<string, never>>;

/** The path of what belongs to no machine: `version`. */
export function subresourceGroupPath(what: string, version: (typeof SUBRESOURCE_VERSIONS)[number] = SUBRESOURCE_VERSIONS[0]): string {
  return `/apis/${SUBRESOURCES_GROUP}/${version}/${what}`;
}

/** Where a PUT expands the machine in its body, with the objects of this namespace. */
export function expandVmSpecPath(namespace: string): string {
  return subresourceGroupPath(`namespaces/${encodeURIComponent(namespace)}/${EXPAND_VM_SPEC.resource}`);
}

/** The path of a subresource of a machine, with its query. */
export function subresourcePath<Name extends SubresourceName>(
  target: SubresourceTarget,
  name: Name,
  query?: SubresourceQuery<Name>,
): string {
  return `${vmPath(target)}/${name}${queryOf(query ?? {})}`;
}

/** The path of a port of a machine. */
export function portForwardPath(target: SubresourceTarget, port: number, protocol: Protocol): string {
  return `${vmPath(target)}/portforward/${port}/${protocol}`;
}

/** What an export serves, through the API: a path of its Pod. Its resource is one of those with subresources. */
export function exportPath(target: Omit<SubresourceTarget, 'resource'>, path: string): string {
  return `${vmPath({ ...target, resource: VM_EXPORTS.plural as VmResource })}${path}`;
}

function vmPath({ resource, namespace, name }: SubresourceTarget): string {
  return subresourceGroupPath(`namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}`);
}
