/** The request behind start, stop, pause and their like: one PUT to a subresource of a machine. */
import type { Client } from '../../client/client.ts';
import type { ConnectionFlags } from '../deps.ts';
import type { MachineKind } from '../machine-target.ts';

export type LifecycleFlags = ConnectionFlags & { readonly dryRun: boolean };

export const RESOURCES: Readonly<Record<MachineKind, string>> = {
  vm: 'virtualmachines',
  ovm: 'offlinevirtualmachines',
  vmic: 'virtualmachineinstanceconfigs',
  vmi: 'virtualmachineinstances',
};

type At = { readonly namespace: string; readonly resource: string; readonly name: string; readonly verb: string };

/** Its answer; a refusal is thrown. */
export function putSubresource(client: Client, { namespace, resource, name, verb }: At, body: object): Promise<Response> {
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}/${verb}`;
  return client.request(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

/** The body of such a request; the server carries out nothing with it on a dry run. */
export function withDryRun(body: object, { dryRun }: LifecycleFlags): object {
  return dryRun ? { ...body, dryRun: ['All'] } : body;
}
