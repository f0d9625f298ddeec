/** The commands that look and change nothing: definitions only, each is loaded when it is called. */
import { buildChoiceParser, buildCommand, numberParser } from '@stricli/core';
import type { Shell } from './commands/completion.ts';
import { connection, connectionAliases, machine, off, proposeMachines, text } from './parameters.ts';

export const logs = buildCommand({
  loader: async () => (await import('./commands/logs.ts')).logs,
  parameters: {
    flags: {
      ...connection,
      follow: off('Go on with what is printed from now on'),
      tail: { kind: 'parsed', parse: numberParser, brief: 'Only this many of the last lines', optional: true, placeholder: 'lines' },
      previous: off('What it printed in its last run that is over'),
      system: off('The log of the embedded cluster instead of a guest; KUBEVIRT_LOG=debug shows more'),
    },
    positional: { ...machine, minimum: 0 },
    aliases: { ...connectionAliases, f: 'follow', p: 'previous' },
  },
  docs: {
    brief: 'Show what a guest printed on its serial port',
    customUsage: [
      { input: 'my-vm --tail 20', brief: 'the last lines of a guest' },
      { input: 'my-vm -f', brief: 'and what comes after them; Ctrl+C ends it' },
      { input: 'my-vm --previous', brief: 'of the run before; of a stopped machine, of its last' },
      { input: '--system', brief: 'what the embedded cluster did, and why' },
    ],
  },
});

export const doctor = buildCommand({
  loader: async () => (await import('./commands/doctor.ts')).doctor,
  parameters: { flags: { json: off('Print the checks as JSON') } },
  docs: {
    brief: 'Check whether this machine can run guests, and say how to fix what is wrong',
    customUsage: ['', { input: '--json', brief: 'for scripts; the exit code is 7 when something blocks' }],
  },
});

export const why = buildCommand({
  loader: async () => (await import('./commands/why.ts')).why,
  parameters: { flags: { ...connection, json: off('Print the answer as JSON') }, positional: machine, aliases: connectionAliases },
  docs: {
    brief: 'Say why a machine does not run: the first thing that blocks, the evidence and the fix',
    customUsage: [
      { input: 'my-vm', brief: 'looks at the machine, its instance, its Pod, its node and their events' },
      'my-vm -n test --json',
    ],
  },
});

export const ls = buildCommand({
  loader: async () => (await import('./commands/ls.ts')).ls,
  parameters: {
    flags: {
      ...connection,
      allNamespaces: off('The machines of all namespaces'),
      output: { kind: 'enum', values: ['wide', 'json', 'yaml', 'name'], brief: 'More columns, or another format', optional: true },
    },
    aliases: { ...connectionAliases, A: 'allNamespaces', o: 'output' },
  },
  docs: {
    brief: 'List virtual machines',
    customUsage: ['', { input: '-A -o wide', brief: 'of all namespaces, with processors, memory and image' }, '-n test -o json'],
  },
});

export const top = buildCommand({
  loader: async () => (await import('./commands/top.ts')).top,
  parameters: {
    flags: { ...connection, allNamespaces: off('The machines of all namespaces') },
    positional: { ...machine, minimum: 0 },
    aliases: { ...connectionAliases, A: 'allNamespaces' },
  },
  docs: {
    brief: 'Show what running machines use of processors and memory',
    customUsage: ['', { input: '-A', brief: 'of all namespaces' }, { input: 'my-vm', brief: 'one of them' }],
  },
});

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];

export const completion = buildCommand({
  loader: async () => (await import('./commands/completion.ts')).completion,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: buildChoiceParser(SHELLS),
          proposeCompletions: (partial: string) => SHELLS.filter((shell) => shell.startsWith(partial)),
          brief: 'bash, zsh or fish',
          placeholder: 'SHELL',
        },
      ],
    },
  },
  docs: {
    brief: 'Print what a shell needs to complete commands, flags and names of machines',
    customUsage: [
      { input: 'bash', brief: 'in ~/.bashrc: source <(virtctl completion bash)' },
      { input: 'zsh', brief: 'in ~/.zshrc: source <(virtctl completion zsh)' },
      { input: 'fish', brief: 'in config.fish: virtctl completion fish | source' },
    ],
  },
});

export const vnc = buildCommand({
  loader: async () => (await import('./commands/vnc.ts')).vnc,
  parameters: {
    flags: {
      ...connection,
      proxyOnly: off('Only listen, and print the port as JSON; connect a viewer yourself'),
      address: { ...text, brief: 'Address to listen on', default: '127.0.0.1', placeholder: 'address' },
      port: { kind: 'parsed', parse: numberParser, brief: 'Port to listen on; 0 takes a free one', default: '0', placeholder: 'port' },
      viewOnly: off('Only look: keys and pointer stay with who has them'),
      preserveSession: off('Refuse to connect while somebody else looks'),
      vncType: { kind: 'enum', values: ['remote-viewer', 'vncviewer', 'gvncviewer'], brief: 'Which viewer to start', optional: true },
      vncPath: { ...text, brief: 'The program of the viewer', optional: true, placeholder: 'file' },
      file: { ...text, brief: 'screenshot: where the picture goes', optional: true, placeholder: 'file' },
      moveCursor: off('screenshot: move the pointer first, which wakes a dark screen'),
    },
    positional: machine,
    aliases: { ...connectionAliases, f: 'file', m: 'moveCursor' },
  },
  docs: {
    brief: 'Show the screen of a running machine in a VNC viewer, or take a picture of it',
    customUsage: [
      'my-vm',
      { input: 'screenshot my-vm --file my-vm.png', brief: 'a picture; --file - writes it to the standard output' },
      { input: 'my-vm --proxy-only --port 5900', brief: 'for any viewer: vncviewer 127.0.0.1::5900' },
    ],
  },
});

export const expand = buildCommand({
  loader: async () => (await import('./commands/expand.ts')).expand,
  parameters: {
    flags: {
      ...connection,
      vm: { ...text, brief: 'Name of a machine of the cluster', optional: true, placeholder: 'name', ...proposeMachines },
      file: { ...text, brief: 'File with the manifest of a machine; - is the standard input', optional: true, placeholder: 'file' },
      output: { kind: 'enum', values: ['yaml', 'json'], brief: 'Format', default: 'yaml' },
    },
    aliases: { ...connectionAliases, f: 'file', o: 'output' },
  },
  docs: {
    brief: 'Show a machine with everything filled in that its author left open; nothing is changed',
    customUsage: ['--vm my-vm', { input: '-f my-vm.yaml -o json', brief: 'a manifest that is not on the cluster yet' }],
  },
});
