/** The commands that reach inside a guest, by its agent or by ssh: definitions only, each is loaded when it is called. */
import { buildCommand, numberParser } from '@stricli/core';
import { connection, connectionAliases, machine, off, proposeMachines, proposeTargets, text } from './parameters.ts';

const onGuest = { flags: connection, positional: machine, aliases: connectionAliases } as const;

export const guestosinfo = buildCommand({
  loader: async () => (await import('./commands/guest-info.ts')).guestosinfo,
  parameters: onGuest,
  docs: { brief: 'Print what the agent in a guest knows of its system, as JSON', customUsage: ['my-vm'] },
});
export const userlist = buildCommand({
  loader: async () => (await import('./commands/guest-info.ts')).userlist,
  parameters: onGuest,
  docs: { brief: 'Print who is logged in to a guest, as JSON', customUsage: ['my-vm'] },
});
export const fslist = buildCommand({
  loader: async () => (await import('./commands/guest-info.ts')).fslist,
  parameters: onGuest,
  docs: { brief: 'Print the file systems of a guest, as JSON', customUsage: ['my-vm'] },
});

export const exec = buildCommand({
  loader: async () => (await import('./commands/exec.ts')).exec,
  parameters: {
    flags: {
      ...connection,
      timeout: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Seconds to wait for the program, at most 600',
        default: '30',
        placeholder: 'seconds',
      },
      stdin: off('Give the program our standard input, up to its end'),
    },
    positional: {
      kind: 'array',
      minimum: 2,
      parameter: {
        ...text,
        brief: 'Name of the machine, then the program and its arguments',
        placeholder: 'NAME COMMAND',
        ...proposeMachines,
      },
    },
    aliases: { ...connectionAliases, i: 'stdin' },
  },
  docs: {
    brief: 'Run a program in a guest through its agent: no network, no password; its exit code is ours',
    customUsage: ['my-vm -- uname -a', { input: "my-vm -- sh -c 'cat > /etc/motd' -i < motd", brief: 'with input' }],
  },
});

const sshFlags = {
  ...connection,
  port: { kind: 'parsed', parse: numberParser, brief: 'Port of the guest', default: '22', placeholder: 'port' },
  username: { ...text, brief: 'User in the guest (default: the one in the target, else yours)', optional: true, placeholder: 'user' },
  identityFile: { ...text, brief: 'Private key (default: as ssh finds it)', optional: true, placeholder: 'file' },
  knownHosts: { ...text, brief: 'File with the keys of known hosts (default: as ssh finds it)', optional: true, placeholder: 'file' },
  localSshOpts: { ...text, brief: 'Further option for ssh itself; can be repeated', optional: true, variadic: true, placeholder: 'option' },
} as const;
const sshAliases = { ...connectionAliases, p: 'port', l: 'username', i: 'identityFile', t: 'localSshOpts' } as const;

export const ssh = buildCommand({
  loader: async () => (await import('./commands/ssh.ts')).ssh,
  parameters: {
    flags: { ...sshFlags, command: { ...text, brief: 'Command to run instead of a shell', optional: true, placeholder: 'command' } },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: '[USER@]vm/NAME[/NAMESPACE] or [USER@]vmi/NAME[/NAMESPACE]', placeholder: 'TARGET', ...proposeTargets },
      ],
    },
    aliases: { ...sshAliases, c: 'command' },
  },
  docs: {
    brief: 'Log in to a guest with the ssh of this machine; no port of the guest has to be open',
    customUsage: [
      'root@vm/my-vm',
      { input: "root@vm/my-vm/test -i key -c 'uptime'", brief: 'one command, in namespace test' },
      { input: 'root@vm/my-vm -t "-o StrictHostKeyChecking=no"', brief: 'with an option of ssh' },
    ],
  },
});

export const scp = buildCommand({
  loader: async () => (await import('./commands/ssh.ts')).scp,
  parameters: {
    flags: { ...sshFlags, recursive: off('Copy folders, too'), preserve: off('Keep times and permissions') },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'File here, or [USER@]vm/NAME[/NAMESPACE]:PATH', placeholder: 'FROM' },
        { ...text, brief: 'The other one of them', placeholder: 'TO' },
      ],
    },
    aliases: { ...sshAliases, r: 'recursive' },
  },
  docs: {
    brief: 'Copy files into a guest or out of it with the scp of this machine',
    customUsage: ['file root@vm/my-vm:/tmp/', { input: '-r root@vm/my-vm:/etc ./etc', brief: 'a folder out of the guest' }],
  },
});
