/** `virtctl expose`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine, optionalText } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'network', rank: 2, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      name: { ...optionalText, brief: 'Name of the Service (default: NAME-PORT)', placeholder: 'name' },
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
      hostPort: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Port of 127.0.0.1 of this machine that leads to it, for administrators of the embedded cluster',
        optional: true,
        placeholder: 'port',
      },
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
    positional: machine,
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Make a Service for a machine, an instance or a replica set',
    customUsage: [
      { input: 'my-vm --port 80 --host-port 8080', brief: 'at a port of this machine that you choose: http://127.0.0.1:8080' },
      { input: 'vm my-vm --name my-vm-http --port 80', brief: 'other guests reach it at the address of the Service' },
      { input: 'vm my-vm --name my-vm-ssh --port 22 --type NodePort', brief: 'and this machine at a port of 127.0.0.1' },
    ],
  },
});
