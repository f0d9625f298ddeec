/** The request behind start, stop, pause and their like: one PUT to a subresource of a machine. */

import { type Machine, type SubresourceName, subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import type { VmResource } from '../../api/kubevirt/subresources.ts';
import type { Client } from '../../client/client.ts';
import type { ConnectionFlags } from '../deps.ts';
import type { VmKind } from '../vm-target.ts';

export type LifecycleFlags = ConnectionFlags & { readonly dryRun: boolean };

export const RESOURCES: Readonly<Record<VmKind, VmResource>> = {
  vm: 'virtualmachines',
  ovm: 'offlinevirtualmachines',
  vmic: 'virtualmachineinstanceconfigs',
  vmi: 'virtualmachineinstances',
};

type At = Machine & { readonly verb: SubresourceName };

/** Its answer; a refusal is thrown. */
export function putSubresource(client: Client, { verb, ...machine }: At, body: object): Promise<Response> {
  return client.request(subresourcePath(machine, verb), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** The body of such a request; the server carries out nothing with it on a dry run. */
export function withDryRun(body: object, { dryRun }: LifecycleFlags): object {
  return dryRun ? { ...body, dryRun: ['All'] } : body;
}
