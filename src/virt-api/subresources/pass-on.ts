/**
 * The subresources of an instance that virt-handler answers, each under the name of its route: the state of the instance allows it, or a
 * refusal says why not; then the question goes to the virt-handler of its node, and the answer back as it came.
 */
import { givenInQuery, responseOf } from '../../api/handler/message.ts';
import {
  type GuestSubresourceName,
  HANDLER_ROUTES,
  handlerRoute,
  isHandlerRouteName,
  type RequestName,
  readQuestion,
  type StreamName,
} from '../../api/handler/routes.ts';
import { vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError } from '../../base/errors.ts';
import type { Served, SubresourceCall, UpgradeCall } from '../subresource-call.ts';
import { askHandler } from './ask-handler.ts';
import { getInstance } from './get-instance.ts';
import { tunnelToHandler } from './handler-tunnel.ts';
import { isDryRun, readOptions } from './read-options.ts';

type PassedOnRequest = GuestSubresourceName & RequestName;
/** A port is more than a namespace and a name. */
type PassedOnStream = Exclude<GuestSubresourceName & StreamName, 'portforward'>;

/** How a subresource of this name is passed on; undefined when virt-handler has no route for it. */
export function passedOnBy(name: string): Served | undefined {
  if (!isHandlerRouteName(name)) return undefined;
  // Only routes that are subresources get here, and what has more in its path is served by a function of its own.
  if ('stream' in HANDLER_ROUTES[name]) return { open: (call) => passOnStream(call, name as PassedOnStream) };
  return { answer: (call) => passOn(call, name as PassedOnRequest) };
}

/** Asks a question by its table entry. What changes something takes `{ dryRun }`, and is logged. */
async function passOn(call: SubresourceCall, route: PassedOnRequest): Promise<Response> {
  const { namespace, name, request, log, user } = call;
  const { method, answer, subresource } = handlerRoute(route);
  const isChange = method === 'PUT';
  const options = isChange ? await readOptions(request) : givenInQuery(new URL(request.url).searchParams);
  const nodeName = await allowedNode(call, route);
  const question = readQuestion(route, options);
  if (isChange && isDryRun(options)) return new Response(null, { status: 200 });
  const said = await askHandler(call, route, { nodeName, parameters: { namespace, name }, question, purpose: purposeOf(call, route) });
  if (isChange || subresource?.isLogged)
    log.info(route, { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${user} asked for it` });
  return responseOf(answer, said);
}

/** Connects the caller with a stream by its table entry. */
async function passOnStream(call: UpgradeCall, route: PassedOnStream): Promise<void> {
  const { namespace, name, upgrade } = call;
  const question = readQuestion(route, givenInQuery(new URL(`https://virt-api${upgrade.request.url}`).searchParams));
  const nodeName = await allowedNode(call, route);
  await tunnelToHandler(call, route, { nodeName, parameters: { namespace, name }, question });
}

/** The node of the instance, when that is in a state that allows this; throws NotFound, or why not. */
export async function allowedNode(
  call: Pick<SubresourceCall, 'client' | 'namespace' | 'name'>,
  route: GuestSubresourceName,
): Promise<string> {
  const vmi = await getInstance(call);
  const refused = vmiRefusalOf(route, vmi);
  if (refused) throw new ApiError(refused.reason, `Cannot ${purposeOf(call, route)}: ${refused.message}`);
  return vmi.status?.nodeName ?? '';
}

function purposeOf({ namespace, name }: Pick<SubresourceCall, 'namespace' | 'name'>, route: GuestSubresourceName): string {
  const { subresource } = handlerRoute(route);
  return `${subresource?.verb ?? route} VMI ${namespace}/${name}`;
}
