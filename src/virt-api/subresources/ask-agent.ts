/**
 * What only the agent inside a guest can tell or do: GET virtualmachineinstances/NAME/{guestosinfo,userlist,filesystemlist} and
 * PUT virtualmachineinstances/NAME/{freeze,unfreeze,exec}.
 */
import { type AgentAction, vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError } from '../../base/errors.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Call } from '../call.ts';
import { askHandler } from './ask-handler.ts';
import { getInstance } from './get-instance.ts';
import { isDryRun, readOptions } from './read-options.ts';

/** Longer than virt-handler takes to give up: it says why. */
const QUESTION_MS = 90_000;
const LONGEST_EXEC_MS = 630_000;

/** Answers with what the agent tells, or with nothing when it did as asked. */
export async function askAgent(call: Call, action: AgentAction): Promise<Response> {
  const { log, namespace, name, user } = call;
  const isQuestion = call.request.method === 'GET';
  const options = isQuestion ? {} : await readOptions(call.request);
  const body = bodyFor(action, options);
  const vmi = await getInstance(call);
  const refused = vmiRefusalOf(action, vmi);
  if (refused) throw new ApiError(refused.reason, `Cannot ${action} VMI ${namespace}/${name}: ${refused.message}`);
  if (!isQuestion && isDryRun(options)) return new Response(null, { status: 200 });
  const text = await askHandler(call, {
    method: isQuestion ? 'GET' : 'PUT',
    what: action,
    nodeName: vmi.status?.nodeName ?? '',
    timeoutMs: action === 'exec' ? LONGEST_EXEC_MS : QUESTION_MS,
    ...(body && { body }),
  });
  if (!isQuestion) log.info(action, { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${user} asked for it` });
  return new Response(text === '' ? null : text, { status: 200, headers: text === '' ? {} : { 'content-type': 'application/json' } });
}

function bodyFor(action: AgentAction, options: JsonObject): object | undefined {
  if (action === 'exec') return options;
  if (action !== 'freeze') return undefined;
  const { unfreezeTimeout } = options;
  if (unfreezeTimeout === undefined || unfreezeTimeout === null) return {};
  const unfreezeTimeoutMs = typeof unfreezeTimeout === 'string' ? parseGoDuration(unfreezeTimeout) : undefined;
  if (unfreezeTimeoutMs !== undefined) return { unfreezeTimeoutMs };
  throw new ApiError('BadRequest', `unfreezeTimeout: Invalid value: ${JSON.stringify(unfreezeTimeout)}: must be a duration such as 5m0s`);
}
