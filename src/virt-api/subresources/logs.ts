/** GET virtualmachines/NAME/logs?previous=true: what the guest printed in its last run that is over. A subresource of ours. */
import { PODS } from '../../api/core/pod.ts';
import type { EndedRun } from '../../api/handler/answers.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { INSTALL_NAMESPACE, LABEL_COMPONENT } from '../../api/kubevirt/names.ts';
import type { SubresourceQuery } from '../../api/kubevirt/subresource-path.ts';
import { ApiError, isApiError } from '../../base/errors.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { askHandler } from './ask-handler.ts';

const PREVIOUS = 'previous' satisfies keyof SubresourceQuery<'logs'>;

/** Answers with the bytes as they were printed; the machine may have run on any node. */
export async function previousLog(call: SubresourceCall): Promise<Response> {
  const { client, namespace, name, request } = call;
  if (new URL(request.url).searchParams.get(PREVIOUS) !== 'true')
    throw new ApiError('BadRequest', 'only ?previous=true is served here; the console shows the current run');
  const vm = await client.get(VMS, { namespace, name });
  const details = { name, group: 'kubevirt.io', kind: 'virtualmachines' };
  if (!vm) throw new ApiError('NotFound', `virtualmachines.kubevirt.io "${name}" not found`, { details });
  const runs: EndedRun[] = [];
  for (const nodeName of await handlerNodes(call)) {
    const asked = {
      nodeName,
      parameters: { uid: vm.metadata.uid ?? '' },
      question: {},
      purpose: `read the log of VM ${namespace}/${name}`,
    };
    try {
      runs.push(await askHandler(call, 'lastRun', asked));
    } catch (error) {
      if (!isApiError(error, 'NotFound') && !isApiError(error, 'ServiceUnavailable')) throw error;
    }
  }
  const last = runs.sort((a, b) => b.endedAtMs - a.endedAtMs)[0];
  if (!last) throw new ApiError('NotFound', `no run of VM ${namespace}/${name} that is over is known on any node`, { details });
  return new Response(Buffer.from(last.printed, 'base64'), { headers: { 'content-type': 'application/octet-stream' } });
}

async function handlerNodes({ client }: SubresourceCall): Promise<string[]> {
  const { items } = await client.list(PODS, { namespace: INSTALL_NAMESPACE, labelSelector: `${LABEL_COMPONENT}=virt-handler` });
  return [...new Set(items.flatMap(({ spec }) => (spec.nodeName ? [spec.nodeName] : [])))];
}
