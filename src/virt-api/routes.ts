/** What answers each subresource of the table; routing and discovery are both made from it. */
import { SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { EXPAND_VM_SPEC, SUBRESOURCES, type Subresource, type VIRT_API_SUBRESOURCES } from '../api/kubevirt/subresources-table.ts';
import { ApiError } from '../base/errors.ts';
import type { Served } from './subresource-call.ts';
import { expandVm } from './subresources/expand-spec.ts';
import { previousLog } from './subresources/logs.ts';
import { restartOfflineVm, startOfflineVm, stopOfflineVm } from './subresources/offline-vm.ts';
import { passedOnBy } from './subresources/pass-on.ts';
import { openPort, openVmPort } from './subresources/portforward.ts';
import { restart } from './subresources/restart.ts';
import { start } from './subresources/start.ts';
import { stop } from './subresources/stop.ts';
import { startFromConfig, stopFromConfig } from './subresources/vmi-config.ts';

/** Called with PUT when it changes something. */
export type Route = Subresource & Served & { readonly method: 'GET' | 'PUT' };

/** What is more than a question to virt-handler. */
const SERVED_HERE: Readonly<Record<keyof typeof VIRT_API_SUBRESOURCES | 'virtualmachineinstances/portforward', Served>> = {
  'virtualmachines/start': { answer: start },
  'virtualmachines/stop': { answer: stop },
  'virtualmachines/restart': { answer: restart },
  'virtualmachines/logs': { answer: previousLog },
  'virtualmachines/expand-spec': { answer: expandVm },
  'virtualmachines/portforward': { open: openVmPort, takesRest: true },
  'virtualmachineinstances/portforward': { open: openPort, takesRest: true },
  'offlinevirtualmachines/start': { answer: startOfflineVm },
  'offlinevirtualmachines/stop': { answer: stopOfflineVm },
  'offlinevirtualmachines/restart': { answer: restartOfflineVm },
  'virtualmachineinstanceconfigs/start': { answer: startFromConfig },
  'virtualmachineinstanceconfigs/stop': { answer: stopFromConfig },
};

export const ROUTES: readonly Route[] = SUBRESOURCES.map((each) => ({
  ...each,
  ...servedBy(each),
  method: each.verbs.includes('update') ? 'PUT' : 'GET',
}));

function servedBy({ resource, subresource }: Subresource): Served {
  const here = Object.entries(SERVED_HERE).find(([name]) => name === `${resource}/${subresource}`)?.[1];
  if (here) return here;
  const passedOn = passedOnBy(subresource);
  if (!passedOn) throw new Error(`nobody serves ${resource}/${subresource}`);
  return passedOn;
}

/** The namespace of a path that asks for the expansion of a machine in the body; undefined for any other path. */
export function findExpansion(pathname: string): string | undefined {
  const [empty, apis, group, version, namespaces, namespace, what, ...more] = pathname.replace(/\/$/, '').split('/').map(decode);
  const isOurs = empty === '' && apis === 'apis' && group === SUBRESOURCES_GROUP && SUBRESOURCE_VERSIONS.some((each) => each === version);
  return isOurs && namespaces === 'namespaces' && what === EXPAND_VM_SPEC.resource && more.length === 0 ? namespace : undefined;
}

export type RouteMatch = { readonly route: Route; readonly namespace: string; readonly name: string };

/** The route of a path below /apis; undefined when it is not the path of a subresource that we have. */
export function findRoute(pathname: string): RouteMatch | undefined {
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
