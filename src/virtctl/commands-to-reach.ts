/** The commands that make guests reachable: definitions only, each is loaded when it is called. */
import { buildCommand, numberParser } from '@stricli/core';
import { connection, connectionAliases, off, proposeMachines, proposeTargets, text } from './parameters.ts';

const optionalText = { ...text, optional: true } as const;

export const portForward = buildCommand({
  loader: async () => (await import('./commands/port-forward.ts')).portForward,
  parameters: {
    flags: {
      ...connection,
      stdio: off('Carry one port over standard input and output, as ssh wants it of a ProxyCommand'),
      address: { ...text, brief: 'Address to listen on', default: '127.0.0.1', placeholder: 'address' },
    },
    positional: {
      kind: 'array',
      minimum: 2,
      parameter: {
        ...text,
        brief: 'vm/NAME[/NAMESPACE] or vmi/NAME[/NAMESPACE], then [tcp/|udp/]LOCAL[:REMOTE] ...',
        placeholder: 'TARGET PORT',
        ...proposeTargets,
      },
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Make ports of a guest reachable on this machine',
    customUsage: [
      { input: 'vm/my-vm 8080:80', brief: 'http://127.0.0.1:8080 is port 80 of the guest' },
      { input: 'vmi/my-vm/test udp/5353:53', brief: 'datagrams, of an instance in namespace test' },
      { input: '--stdio vm/my-vm 22', brief: 'ssh -o "ProxyCommand virtctl port-forward --stdio vm/my-vm 22" root@my-vm' },
    ],
  },
});

export const expose = buildCommand({
  loader: async () => (await import('./commands/expose.ts')).expose,
  parameters: {
    flags: {
      ...connection,
      name: { ...text, brief: 'Name of the Service', placeholder: 'name' },
      port: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Port of the Service (default: all that the interfaces declare)',
        optional: true,
        placeholder: 'port',
      },
      targetPort: { ...optionalText, brief: 'Port of the guest, a number or a name (default: the same)', placeholder: 'port' },
      protocol: { kind: 'enum', values: ['TCP', 'UDP'], brief: 'Protocol', default: 'TCP' },
      type: { kind: 'enum', values: ['ClusterIP', 'NodePort', 'LoadBalancer'], brief: 'Type of the Service', default: 'ClusterIP' },
      clusterIp: { ...optionalText, brief: 'Its address in the cluster; None for a headless one', placeholder: 'address' },
      externalIp: { ...optionalText, brief: 'Further address, set up outside the cluster', placeholder: 'address' },
      portName: { ...optionalText, brief: 'Name of the port', placeholder: 'name' },
      ipFamily: { kind: 'enum', values: ['IPv4', 'IPv6', 'IPv4,IPv6', 'IPv6,IPv4'], brief: 'Address families', optional: true },
      ipFamilyPolicy: {
        kind: 'enum',
        values: ['SingleStack', 'PreferDualStack', 'RequireDualStack'],
        brief: 'How many of them',
        optional: true,
      },
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'vm, vmi or vmirs', placeholder: 'TYPE' },
        { ...text, brief: 'Its name', placeholder: 'NAME', ...proposeMachines },
      ],
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Make a Service for a machine, an instance or a replica set',
    customUsage: [
      { input: 'vm my-vm --name my-vm-http --port 80', brief: 'other guests reach it at the address of the Service' },
      { input: 'vm my-vm --name my-vm-ssh --port 22 --type NodePort', brief: 'and this machine at a port of 127.0.0.1' },
    ],
  },
});
