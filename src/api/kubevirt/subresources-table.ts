/**
 * Every subresource, once: virt-api serves what is here, discovery shows it, and the roles for people follow from it. Those that virt-handler
 * answers are its routes (api/handler/routes.ts); those that virt-api answers by itself are below.
 */
import type { HandlerRoute } from '../handler/route.ts';
import { HANDLER_ROUTES, type HandlerRouteName } from '../handler/routes.ts';
import type { VmResource } from './subresources.ts';

/** The least of the roles for people that includes it; `migrate` stands beside the others. */
export type SubresourceRole = 'view' | 'edit' | 'admin' | 'migrate';
export type Subresource = {
  readonly resource: VmResource;
  readonly subresource: string;
  /** What it is a subresource of. */
  readonly kind: string;
  /** `get` is GET, and `update` is PUT; with both, either does the same. */
  readonly verbs: readonly ('get' | 'update')[];
  readonly role: SubresourceRole;
};

/** Answered by virt-api. */
export const VIRT_API_SUBRESOURCES = {
  'virtualmachines/start': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachines/stop': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachines/restart': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachines/suspend': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachines/resume': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachines/memorydump': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachines/removememorydump': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachines/migrate': { kind: 'VirtualMachine', verbs: ['update'], role: 'migrate' },
  'virtualmachines/addvolume': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachines/removevolume': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachineinstances/addvolume': { kind: 'VirtualMachineInstance', verbs: ['update'], role: 'edit' },
  'virtualmachineinstances/removevolume': { kind: 'VirtualMachineInstance', verbs: ['update'], role: 'edit' },
  'virtualmachines/evacuate/cancel': { kind: 'VirtualMachine', verbs: ['update'], role: 'edit' },
  'virtualmachineinstances/evacuate/cancel': { kind: 'VirtualMachineInstance', verbs: ['update'], role: 'edit' },
  'virtualmachines/logs': { kind: 'VirtualMachine', verbs: ['get'], role: 'edit' },
  'virtualmachines/expand-spec': { kind: 'VirtualMachine', verbs: ['get'], role: 'view' },
  'virtualmachines/portforward': { kind: 'VirtualMachine', verbs: ['get'], role: 'edit' },
  // GET says how far it is, for who may send the next piece.
  'persistentvolumeclaims/upload': { kind: 'PersistentVolumeClaim', verbs: ['get', 'update'], role: 'edit' },
  // The token is asked for, as well.
  'virtualmachineexports/volumes': { kind: 'VirtualMachineExport', verbs: ['get'], role: 'edit' },
  'virtualmachineexports/external': { kind: 'VirtualMachineExport', verbs: ['get'], role: 'edit' },
  'virtualmachineexports/internal': { kind: 'VirtualMachineExport', verbs: ['get'], role: 'edit' },
  'offlinevirtualmachines/start': { kind: 'OfflineVirtualMachine', verbs: ['update'], role: 'edit' },
  'offlinevirtualmachines/stop': { kind: 'OfflineVirtualMachine', verbs: ['update'], role: 'edit' },
  'offlinevirtualmachines/restart': { kind: 'OfflineVirtualMachine', verbs: ['update'], role: 'edit' },
  // By GET as published; it is a change either way.
  'virtualmachineinstanceconfigs/start': { kind: 'VirtualMachineInstanceConfig', verbs: ['get', 'update'], role: 'edit' },
  'virtualmachineinstanceconfigs/stop': { kind: 'VirtualMachineInstanceConfig', verbs: ['get', 'update'], role: 'edit' },
} as const satisfies Readonly<Record<string, Omit<Subresource, 'resource' | 'subresource'>>>;

/** The one path with a namespace and no object: PUT namespaces/NAMESPACE/expand-vm-spec. */
export const EXPAND_VM_SPEC = { resource: 'expand-vm-spec', kind: 'VirtualMachine', verbs: ['update'], role: 'view' } as const;

/** All of them. */
export const SUBRESOURCES: readonly Subresource[] = [
  ...Object.entries(VIRT_API_SUBRESOURCES).map(([name, entry]): Subresource => {
    const [resource, ...rest] = name.split('/');
    return { resource: resource as VmResource, subresource: rest.join('/'), ...entry }; // as the key says
  }),
  ...Object.keys(HANDLER_ROUTES).flatMap((name) => servedBy(name as HandlerRouteName)), // the keys of the table
];

function servedBy(name: HandlerRouteName): Subresource[] {
  const route: HandlerRoute = HANDLER_ROUTES[name];
  if (!route.subresource) return [];
  const verb = 'method' in route && route.method === 'PUT' ? 'update' : 'get';
  const { role } = route.subresource;
  return [{ resource: 'virtualmachineinstances', subresource: name, kind: 'VirtualMachineInstance', verbs: [verb], role }];
}
