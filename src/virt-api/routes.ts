/** What answers each subresource of the table: who asks is told by the API server in front, whether they may is asked for each call. */
import { UPLOAD_TOKENS } from '../api/importer/upload.ts';
import { SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { EXPAND_VM_SPEC, SUBRESOURCES, type Subresource, type VIRT_API_SUBRESOURCES } from '../api/kubevirt/subresources-table.ts';
import type { Clock } from '../base/clock.ts';
import { ApiError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { TlsIdentity } from '../base/node/https-fetch.ts';
import { FRONT_PROXY_NAME, type Pki } from '../base/node/pki.ts';
import type { Peer } from '../base/node/verified-peer.ts';
import type { Upgrade } from '../base/node/web-server.ts';
import type { Client } from '../client/client.ts';
import type { FollowedConfiguration } from '../client/follow-configuration.ts';
import { discoveryAnswer } from './discovery.ts';
import { exportedBytes } from './export/pass-on-export.ts';
import { callerBehind } from './front-proxy.ts';
import { type ResourceAttributes, requireAccess } from './require-access.ts';
import type { StreamAccess } from './stream-access.ts';
import type { Served } from './subresource-call.ts';
import { vmChange } from './subresources/change-vm.ts';
import { vmiVolumes, vmVolumes } from './subresources/change-volumes.ts';
import { cancelEvacuation } from './subresources/evacuate-cancel.ts';
import { expandGiven, expandVm } from './subresources/expand-spec.ts';
import { previousLog } from './subresources/logs.ts';
import { migrateVm } from './subresources/migrate-vm.ts';
import { restartOfflineVm, startOfflineVm, stopOfflineVm } from './subresources/offline-vm.ts';
import { passedOnBy } from './subresources/pass-on.ts';
import { openPort, openVmPort } from './subresources/portforward.ts';
import { startFromConfig, stopFromConfig } from './subresources/vmi-config.ts';
import { uploadPiece } from './upload/pass-on-upload.ts';
import { answerTokenRequest, tokenNamespaceOf } from './upload/upload-proxy.ts';

/** Called with PUT when it changes something. */
export type Route = Subresource & Served & { readonly method: 'GET' | 'PUT' };

export type RouteOptions = {
  readonly client: Client;
  /** What we show to virt-handler and expect of it; read for each call: on a cluster certificates and names change while we run. */
  readonly pki: Pick<Pki, 'virtHandlerClient' | 'kubevirtCa'>;
  /** The names that the front proxy may go by. */
  readonly frontProxyNames?: readonly string[];
  /** Shown under /version. */
  readonly version?: string;
  /** With tools for disks, for `virtctl guestfs`. */
  readonly toolsImage?: string;
  readonly clock: Clock;
  readonly log: Logger;
};
/** Whose connection it is, and what it says of the one who asks. */
type From = {
  readonly peer: Peer | undefined;
  readonly rawHeaders: readonly string[];
  readonly configuration: FollowedConfiguration;
  readonly streams: StreamAccess;
};

/** What is more than a question to virt-handler. */
const SERVED_HERE: Readonly<Record<keyof typeof VIRT_API_SUBRESOURCES | 'virtualmachineinstances/portforward', Served>> = {
  'virtualmachines/start': { answer: vmChange('start') },
  'virtualmachines/stop': { answer: vmChange('stop') },
  'virtualmachines/restart': { answer: vmChange('restart') },
  'virtualmachines/suspend': { answer: vmChange('suspend') },
  'virtualmachines/resume': { answer: vmChange('resume') },
  'virtualmachines/memorydump': { answer: vmChange('memorydump') },
  'virtualmachines/removememorydump': { answer: vmChange('removememorydump') },
  'virtualmachines/migrate': { answer: migrateVm },
  'virtualmachines/addvolume': { answer: vmVolumes('addvolume') },
  'virtualmachines/removevolume': { answer: vmVolumes('removevolume') },
  'virtualmachineinstances/addvolume': { answer: vmiVolumes('addvolume') },
  'virtualmachineinstances/removevolume': { answer: vmiVolumes('removevolume') },
  'virtualmachines/evacuate/cancel': { answer: cancelEvacuation },
  'virtualmachineinstances/evacuate/cancel': { answer: cancelEvacuation },
  'virtualmachines/logs': { answer: previousLog },
  'virtualmachines/expand-spec': { answer: expandVm },
  'virtualmachines/portforward': { open: openVmPort, takesRest: true },
  'virtualmachineinstances/portforward': { open: openPort, takesRest: true },
  'persistentvolumeclaims/upload': { answer: uploadPiece },
  'virtualmachineexports/volumes': { answer: exportedBytes, takesRest: true },
  'virtualmachineexports/external': { answer: exportedBytes, takesRest: true },
  'virtualmachineexports/internal': { answer: exportedBytes, takesRest: true },
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

/** Answers a request; throws what the caller should be told. */
export async function answer(request: Request, from: From, options: RouteOptions): Promise<Response> {
  const caller = callerBehind({ ...from, allowedNames: namesOf(options) });
  const { client, log, pki, version = 'unknown', toolsImage } = options;
  const { pathname } = new URL(request.url);
  const described = discoveryAnswer(pathname, { version, toolsImage });
  if (described) return described;
  const tokenNamespace = tokenNamespaceOf(pathname);
  if (tokenNamespace !== undefined) {
    await requireAccess(client, caller, {
      group: UPLOAD_TOKENS.group,
      resource: UPLOAD_TOKENS.plural,
      namespace: tokenNamespace,
      verb: 'create',
    });
    return answerTokenRequest(request, tokenNamespace, { client, clock: options.clock, identity: pki.virtHandlerClient });
  }
  const { user } = caller;
  const { current: configuration } = from.configuration;
  const common = { client, configuration, log: log.with({ user }), user, request, handlerTls: handlerTlsOf(pki) };
  const expansion = findExpansion(pathname);
  if (expansion !== undefined) {
    if (request.method !== 'PUT') throw new ApiError('MethodNotAllowed', `${request.method} is not possible here, only PUT`);
    await requireAccess(client, caller, { resource: EXPAND_VM_SPEC.resource, namespace: expansion, verb: 'update' });
    return expandGiven({ ...common, namespace: expansion, name: '' });
  }
  const { route, namespace, name } = findRoute(pathname);
  if ('open' in route && request.method === 'GET')
    throw new ApiError('BadRequest', `${route.subresource} is a WebSocket: the request asks for no upgrade`);
  const isAllowed = request.method === 'GET' ? route.verbs.includes('get') : request.method === route.method;
  if ('open' in route || !isAllowed) throw new ApiError('MethodNotAllowed', `${request.method} is not possible here, only ${route.method}`);
  const attributes = resourceAttributesOf({ route, namespace, name });
  await requireAccess(client, caller, attributes);
  return from.streams.whileAllowed(await route.answer({ ...common, namespace, name }), { caller, attributes });
}

type Opening = Omit<From, 'rawHeaders'> & { readonly upgrade: Upgrade };

/** Takes a WebSocket over; throws what the caller should be told. */
export async function open(
  { upgrade, peer, streams, configuration: { current: configuration } }: Opening,
  options: RouteOptions,
): Promise<void> {
  const { client, pki, log } = options;
  const { request } = upgrade;
  const caller = callerBehind({ peer, allowedNames: namesOf(options), rawHeaders: request.rawHeaders });
  const { user } = caller;
  const { route, namespace, name } = findRoute(new URL(`https://virt-api${request.url}`).pathname);
  if (!('open' in route)) throw new ApiError('BadRequest', `${route.subresource} is not a WebSocket`);
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') throw new ApiError('BadRequest', `${route.subresource} is a WebSocket`);
  const attributes = resourceAttributesOf({ route, namespace, name });
  await requireAccess(client, caller, attributes);
  await route.open({ client, configuration, log: log.with({ user }), namespace, name, user, upgrade, handlerTls: handlerTlsOf(pki) });
  streams.add({ caller, attributes, socket: upgrade.socket });
}

function namesOf({ frontProxyNames = [FRONT_PROXY_NAME] }: RouteOptions): readonly string[] {
  return frontProxyNames;
}

function handlerTlsOf(pki: RouteOptions['pki']): TlsIdentity {
  return { ...pki.virtHandlerClient, ca: pki.kubevirtCa };
}

/** What does the same by GET and by PUT is a change either way. */
function resourceAttributesOf({ route, namespace, name }: RouteMatch): ResourceAttributes {
  const { resource, subresource } = route;
  return { resource, subresource, namespace, name, verb: route.method === 'GET' ? 'get' : 'update' };
}

/** The namespace of a path that asks for the expansion of a machine in the body; undefined for any other path. */
function findExpansion(pathname: string): string | undefined {
  const [empty, apis, group, version, namespaces, namespace, what, ...more] = pathname.replace(/\/$/, '').split('/').map(decode);
  const isOurs = empty === '' && apis === 'apis' && group === SUBRESOURCES_GROUP && SUBRESOURCE_VERSIONS.some((each) => each === version);
  return isOurs && namespaces === 'namespaces' && what === EXPAND_VM_SPEC.resource && more.length === 0 ? namespace : undefined;
}

type RouteMatch = { readonly route: Route; readonly namespace: string; readonly name: string };

/** The route of a path; throws NotFound when it is not the path of a subresource that we have. */
function findRoute(pathname: string): RouteMatch {
  const [empty, apis, group, version, namespaces, namespace, resource, name, ...rest] = pathname.replace(/\/$/, '').split('/').map(decode);
  const isOurs = empty === '' && apis === 'apis' && group === SUBRESOURCES_GROUP && SUBRESOURCE_VERSIONS.some((each) => each === version);
  const subresource = rest.join('/');
  const route = ROUTES.find(
    (each) => each.resource === resource && each.subresource === (each.takesRest && rest.length > 1 ? rest[0] : subresource),
  );
  if (!isOurs || namespaces !== 'namespaces' || !namespace || !name || !route)
    throw new ApiError('NotFound', 'the server could not find the requested resource');
  return { route, namespace, name };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw new ApiError('BadRequest', `the path segment ${segment} is not valid`, { cause: error });
  }
}
