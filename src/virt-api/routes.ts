/** Every subresource, once: routing and discovery are both made from this table. */
import { type MachineResource, SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import type { AgentAction } from '../api/kubevirt/vm-can.ts';
import { ApiError } from '../base/errors.ts';
import type { Call, UpgradeCall } from './call.ts';
import { actOnGuest } from './subresources/act-on-guest.ts';
import { askAgent } from './subresources/ask-agent.ts';
import { openConsole } from './subresources/console.ts';
import { expandGiven, expandVm } from './subresources/expand-spec.ts';
import { previousLog } from './subresources/logs.ts';
import { restartOfflineVm, startOfflineVm, stopOfflineVm } from './subresources/offline-vm.ts';
import { openPort, openVmPort } from './subresources/portforward.ts';
import { restart } from './subresources/restart.ts';
import { screenshot } from './subresources/screenshot.ts';
import { start } from './subresources/start.ts';
import { stop } from './subresources/stop.ts';
import { usage } from './subresources/usage.ts';
import { startFromConfig, stopFromConfig } from './subresources/vmi-config.ts';
import { openScreen } from './subresources/vnc.ts';

export type Route = {
  readonly resource: MachineResource;
  readonly subresource: string;
  readonly kind: string;
  /** What follows in the path belongs to it. */
  readonly takesRest?: true;
  /** A GET does the same, for whoever may do it by PUT. */
  readonly alsoByGet?: true;
} & (
  | { readonly method: 'PUT' | 'GET'; readonly answer: (call: Call) => Promise<Response> }
  /** A WebSocket. */
  | { readonly method: 'GET'; readonly open: (call: UpgradeCall) => Promise<void> }
);

export const ROUTES: readonly Route[] = [
  ...(['pause', 'unpause', 'reset', 'softreboot'] as const).map(
    (action): Route => ({
      resource: 'virtualmachineinstances',
      subresource: action,
      kind: 'VirtualMachineInstance',
      method: 'PUT',
      answer: (call) => actOnGuest(call, action),
    }),
  ),
  ...(['guestosinfo', 'userlist', 'filesystemlist'] as const).map((question) => agentRoute(question, 'GET')),
  ...(['freeze', 'unfreeze', 'exec'] as const).map((action) => agentRoute(action, 'PUT')),
  { resource: 'offlinevirtualmachines', subresource: 'start', kind: 'OfflineVirtualMachine', method: 'PUT', answer: startOfflineVm },
  { resource: 'offlinevirtualmachines', subresource: 'stop', kind: 'OfflineVirtualMachine', method: 'PUT', answer: stopOfflineVm },
  { resource: 'offlinevirtualmachines', subresource: 'restart', kind: 'OfflineVirtualMachine', method: 'PUT', answer: restartOfflineVm },
  {
    resource: 'virtualmachineinstanceconfigs',
    subresource: 'start',
    kind: 'VirtualMachineInstanceConfig',
    method: 'PUT',
    answer: startFromConfig,
    alsoByGet: true,
  },
  {
    resource: 'virtualmachineinstanceconfigs',
    subresource: 'stop',
    kind: 'VirtualMachineInstanceConfig',
    method: 'PUT',
    answer: stopFromConfig,
    alsoByGet: true,
  },
  { resource: 'virtualmachines', subresource: 'start', kind: 'VirtualMachine', method: 'PUT', answer: start },
  { resource: 'virtualmachines', subresource: 'stop', kind: 'VirtualMachine', method: 'PUT', answer: stop },
  { resource: 'virtualmachines', subresource: 'restart', kind: 'VirtualMachine', method: 'PUT', answer: restart },
  { resource: 'virtualmachineinstances', subresource: 'console', kind: 'VirtualMachineInstance', method: 'GET', open: openConsole },
  { resource: 'virtualmachineinstances', subresource: 'vnc', kind: 'VirtualMachineInstance', method: 'GET', open: openScreen },
  {
    resource: 'virtualmachineinstances',
    subresource: 'vnc/screenshot',
    kind: 'VirtualMachineInstance',
    method: 'GET',
    answer: screenshot,
  },
  { resource: 'virtualmachineinstances', subresource: 'usage', kind: 'VirtualMachineInstance', method: 'GET', answer: usage },
  { resource: 'virtualmachines', subresource: 'logs', kind: 'VirtualMachine', method: 'GET', answer: previousLog },
  { resource: 'virtualmachines', subresource: 'expand-spec', kind: 'VirtualMachine', method: 'GET', answer: expandVm },
  { resource: 'virtualmachines', subresource: 'portforward', kind: 'VirtualMachine', method: 'GET', open: openVmPort, takesRest: true },
  {
    resource: 'virtualmachineinstances',
    subresource: 'portforward',
    kind: 'VirtualMachineInstance',
    method: 'GET',
    open: openPort,
    takesRest: true,
  },
];

function agentRoute(subresource: AgentAction, method: 'GET' | 'PUT'): Route {
  const answer = (call: Call) => askAgent(call, subresource);
  return { resource: 'virtualmachineinstances', subresource, kind: 'VirtualMachineInstance', method, answer };
}

/** The one path with a namespace and no object: PUT namespaces/NAMESPACE/expand-vm-spec. */
export const EXPAND_GIVEN = { path: 'expand-vm-spec', kind: 'VirtualMachine', answer: expandGiven } as const;

/** The namespace of a path that asks for the expansion of a machine in the body; undefined for any other path. */
export function findExpansion(pathname: string): string | undefined {
  const [empty, apis, group, version, namespaces, namespace, what, ...more] = pathname.replace(/\/$/, '').split('/').map(decode);
  const isOurs = empty === '' && apis === 'apis' && group === SUBRESOURCES_GROUP && SUBRESOURCE_VERSIONS.some((each) => each === version);
  return isOurs && namespaces === 'namespaces' && what === EXPAND_GIVEN.path && more.length === 0 ? namespace : undefined;
}

export type Found = { readonly route: Route; readonly namespace: string; readonly name: string };

/** The route of a path below /apis; undefined when it is not the path of a subresource that we have. */
export function findRoute(pathname: string): Found | undefined {
  const [empty, apis, group, version, namespaces, namespace, resource, name, ...rest] = pathname.replace(/\/$/, '').split('/').map(decode);
  if (empty !== '' || apis !== 'apis' || group !== SUBRESOURCES_GROUP || namespaces !== 'namespaces' || !namespace || !name)
    return undefined;
  if (!SUBRESOURCE_VERSIONS.some((each) => each === version)) return undefined;
  const subresource = rest.join('/');
  const route = ROUTES.find(
    (each) => each.resource === resource && each.subresource === (each.takesRest && rest.length > 1 ? rest[0] : subresource),
  );
  return route && { route, namespace, name };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw new ApiError('BadRequest', `the path segment ${segment} is not valid`, { cause: error });
  }
}
