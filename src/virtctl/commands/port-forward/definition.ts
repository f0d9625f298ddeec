/** `virtctl port-forward`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, proposeTargets, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'network', rank: 1, harms: false },
  run: () => import('./run.ts'),
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
