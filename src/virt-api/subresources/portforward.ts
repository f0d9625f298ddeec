/** GET virtualmachineinstances/NAME/portforward/PORT[/PROTOCOL], also for the machine of that name: a port of the guest as a WebSocket. */

import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { ApiError } from '../../base/errors.ts';
import type { UpgradeCall } from '../subresource-call.ts';
import { allowedNode, tunnelToHandler } from './pass-on.ts';

const TARGET = /\/portforward\/([1-9]\d{0,4})(?:\/(tcp|udp))?\/?$/;

/** The same, of the machine: one that has no instance is in conflict with the request, and not unknown. */
export async function openVmPort(call: UpgradeCall): Promise<void> {
  const { client, namespace, name } = call;
  const vm = await client.get<VirtualMachine>(VMS, { namespace, name });
  const details = { name, group: 'kubevirt.io', kind: 'virtualmachines' };
  if (!vm) throw new ApiError('NotFound', `virtualmachines.kubevirt.io "${name}" not found`, { details });
  if (!vm.status?.created)
    throw new ApiError('Conflict', `Cannot forward a port of VM ${namespace}/${name}: VM is not running`, { details });
  await openPort(call);
}

/** Connects the caller with a port of a running instance. TCP is a stream of bytes; of UDP each message is a datagram. */
export async function openPort(call: UpgradeCall): Promise<void> {
  const { pathname } = new URL(`https://virt-api${call.upgrade.request.url}`);
  const [, port = '', protocol = 'tcp'] = TARGET.exec(pathname) ?? [];
  if (port === '' || Number(port) > 65_535) throw new ApiError('BadRequest', 'the path has to end with a port, or a port and tcp or udp');
  const { namespace, name } = call;
  const nodeName = await allowedNode(call, 'portforward');
  const parameters = { namespace, name, port: Number(port), protocol: protocol === 'udp' ? 'udp' : 'tcp' } as const;
  await tunnelToHandler(call, 'portforward', { nodeName, parameters, question: {} });
}
