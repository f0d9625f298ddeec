/** What the words of `virtctl port-forward` mean: a target and ports. */
import { UserError } from '../../base/errors.ts';

export type ForwardTarget = {
  readonly resource: 'virtualmachines' | 'virtualmachineinstances';
  readonly name: string;
  readonly namespace?: string;
};
export type ForwardedPort = { readonly protocol: 'tcp' | 'udp'; readonly local: number; readonly remote: number };

const KINDS: Readonly<Record<string, ForwardTarget['resource']>> = {
  vm: 'virtualmachines',
  vms: 'virtualmachines',
  virtualmachine: 'virtualmachines',
  virtualmachines: 'virtualmachines',
  vmi: 'virtualmachineinstances',
  vmis: 'virtualmachineinstances',
  virtualmachineinstance: 'virtualmachineinstances',
  virtualmachineinstances: 'virtualmachineinstances',
};

/** `vm/NAME`, `vmi/NAME/NAMESPACE`, or just a name, which is that of an instance. */
export function parseTarget(text: string): ForwardTarget {
  const parts = text.split('/');
  const [kind = '', name = '', namespace] = parts.length === 1 ? ['vmi', ...parts] : parts;
  const resource = Object.hasOwn(KINDS, kind.toLowerCase()) ? KINDS[kind.toLowerCase()] : undefined;
  if (!resource || name === '' || namespace === '' || parts.length > 3) {
    throw usage(`${text} names no machine`, 'the target is vm/NAME or vmi/NAME, with /NAMESPACE after it if needed');
  }
  return { resource, name, ...(namespace !== undefined && { namespace }) };
}

/** `8080:80`, `22`, `udp/5353:53`. */
export function parsePort(text: string): ForwardedPort {
  const [, protocol = 'tcp', local = '', remote = local] = /^(?:(tcp|udp)\/)?(\d+)(?::(\d+))?$/i.exec(text) ?? [];
  const port = { protocol: protocol.toLowerCase() as ForwardedPort['protocol'], local: Number(local), remote: Number(remote) }; // as the pattern says
  const isPort = (number: number, least: number) => number >= least && number <= 65_535;
  if (local === '' || !isPort(port.local, text.includes(':') ? 0 : 1) || !isPort(port.remote, 1)) {
    throw usage(`invalid port ${text}`, 'ports are [tcp/|udp/]LOCAL[:REMOTE], numbers from 1 to 65535');
  }
  return port;
}

function usage(what: string, why: string): UserError {
  return new UserError('USAGE', what, { why, fix: 'virtctl port-forward vm/my-vm 8080:80', exitCode: 2 });
}
