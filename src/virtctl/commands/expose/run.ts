/** Makes a Service for a machine, an instance or a replica set: also before the machine has ever started. */
import type { Service, ServicePort } from '../../../api/core/service.ts';
import { SERVICES } from '../../../api/core/service.ts';
import { VMIRSS } from '../../../api/kubevirt/kinds/replica-set.ts';
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_HOST_PORT, LABEL_VMI_ID } from '../../../api/kubevirt/names.ts';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import type { ClusterDeps, Connection, ConnectionFlags } from '../../deps.ts';
import { mustBeFree, sayWhere } from './host-port.ts';

export type ExposeFlags = ConnectionFlags & {
  readonly name?: string;
  readonly port?: number;
  readonly targetPort?: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  readonly hostPort?: number;
  readonly clusterIp?: string;
  readonly externalIp?: string;
  readonly portName?: string;
  readonly ipFamily?: 'IPv4' | 'IPv6' | 'IPv4,IPv6' | 'IPv6,IPv4';
  readonly ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';
};
type Exposed = { readonly kind: string; readonly selector: Readonly<Record<string, string>>; readonly spec: VmiSpec };

const MAX_LABEL = 63;

export async function run(deps: ClusterDeps, flags: ExposeFlags, ...words: string[]): Promise<void> {
  const [type, name] = typeAndName(words);
  const { kind, selector, spec } = await find(deps, type, name);
  const serviceName = flags.name ?? nameOfService(name, flags.port);
  const ports = portsOf(flags, spec);
  const { hostPort } = flags;
  if (hostPort !== undefined) await mustBeFree(deps, hostPort, ports);
  const annotations = hostPort === undefined ? undefined : { [ANNOTATION_HOST_PORT]: String(hostPort) };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName, namespace: deps.namespace, ...(annotations && { annotations }) },
    spec: {
      // What leads in from the host is a NodePort, by whatever number.
      type: hostPort !== undefined && flags.type === 'ClusterIP' ? 'NodePort' : flags.type,
      selector,
      ports,
      ...(flags.clusterIp && { clusterIP: flags.clusterIp }),
      ...(flags.externalIp && { externalIPs: flags.externalIp.split(',') }),
      ...(flags.ipFamily && { ipFamilies: flags.ipFamily.split(',') }),
      ...(flags.ipFamilyPolicy && { ipFamilyPolicy: flags.ipFamilyPolicy }),
    },
  } as Service;
  await deps.client.create(SERVICES, service);
  deps.stdout.write(`Service ${serviceName} successfully created for ${kind} ${name}\n`);
  if (hostPort !== undefined) await sayWhere(deps, serviceName, hostPort);
}

/** `NAME` is a VM; `TYPE NAME` or `TYPE/NAME`. */
function typeAndName(words: readonly string[]): readonly [type: string, name: string] {
  const [first = '', second, ...more] = words.flatMap((word) => word.split('/'));
  if (more.length > 0) throw refused(`one machine at a time, got: ${words.join(' ')}`, 'virtctl expose my-vm --port 80');
  return second === undefined ? ['vm', first] : [first, second];
}

/** Not the name of the machine: names of Services are looked up first, and would hide its other ports. */
function nameOfService(name: string, port: number | undefined): string {
  return `${name}-${port ?? 'ports'}`;
}

async function find({ client, namespace }: Connection, type: string, name: string): Promise<Exposed> {
  const at = { namespace, name };
  switch (type.toLowerCase()) {
    case 'vmi':
    case 'vmis':
    case 'virtualmachineinstance':
    case 'virtualmachineinstances': {
      const { spec } = present(await client.get(VMIS, at), 'virtualmachineinstances', name);
      return { kind: 'virtualmachineinstance', selector: idOf(name), spec };
    }
    case 'vm':
    case 'vms':
    case 'virtualmachine':
    case 'virtualmachines': {
      const { spec } = present(await client.get(VMS, at), 'virtualmachines', name);
      return { kind: 'virtualmachine', selector: idOf(name), spec: spec.template.spec };
    }
    case 'vmirs':
    case 'vmirss':
    case 'virtualmachineinstancereplicaset':
    case 'virtualmachineinstancereplicasets': {
      const { spec } = present(await client.get(VMIRSS, at), 'virtualmachineinstancereplicasets', name);
      const { matchLabels = {}, matchExpressions = [] } = spec.selector;
      if (matchExpressions.length > 0) throw refused('cannot expose VirtualMachineInstanceReplicaSet with match expressions');
      return { kind: 'virtualmachineinstancereplicaset', selector: matchLabels, spec: spec.template.spec };
    }
    default:
      throw refused(`unsupported resource type: ${type}`, 'virtctl expose my-vm --port 80');
  }
}

function present<T>(found: T | undefined, plural: string, name: string): T {
  if (found) return found;
  throw new ApiError('NotFound', `${plural}.kubevirt.io "${name}" not found`);
}

/** The launcher Pod carries it, of every run of the machine. */
function idOf(name: string): Record<string, string> {
  if (name.length > MAX_LABEL) throw refused(`the name ${name} is too long for a label, which a Service needs`);
  return { [LABEL_VMI_ID]: name };
}

/** The one that is asked for, or all that the interfaces declare. */
function portsOf(flags: ExposeFlags, spec: VmiSpec): ServicePort[] {
  const { port, protocol, portName } = flags;
  if (port !== undefined) {
    const targetPort = flags.targetPort === undefined ? port : /^\d+$/.test(flags.targetPort) ? Number(flags.targetPort) : flags.targetPort;
    return [{ ...(portName && { name: portName }), protocol, port, targetPort }];
  }
  const declared = (spec.domain.devices.interfaces ?? []).flatMap(({ ports = [] }) => ports);
  if (declared.length === 0) throw refused("couldn't find port via --port flag or introspection", 'say which one: --port 80');
  return declared.map((each, index) => ({
    name: each.name ?? `port-${index + 1}`,
    protocol: each.protocol ?? 'TCP',
    port: each.port,
    targetPort: each.port,
  }));
}

function refused(what: string, fix?: string): UserError {
  return new UserError('USAGE', what, { ...(fix && { fix }), exitCode: 2 });
}
