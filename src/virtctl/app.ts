/** virtctl: the table of commands. Each is loaded only when it is called, so that the tool starts fast. */
import { type Application, buildApplication, buildCommand, buildRouteMap, FlagNotFoundError, numberParser, text_en } from '@stricli/core';
import { install, uninstall } from './commands-for-clusters.ts';
import { credentials } from './commands-for-credentials.ts';
import { image } from './commands-for-images.ts';
import { exec, fslist, guestosinfo, scp, ssh, userlist } from './commands-inside.ts';
import { create, run } from './commands-to-create.ts';
import { completion, doctor, expand, logs, ls, top, vnc, why } from './commands-to-look.ts';
import { expose, portForward } from './commands-to-reach.ts';
import type { Context } from './context.ts';
import { exitCodeOf, renderError } from './failure.ts';
import { notHere } from './not-here-table.ts';
import { connection, connectionAliases, machine } from './parameters.ts';

const dryRun = {
  kind: 'boolean',
  brief: 'Let the server check the request without carrying it out',
  default: false,
  withNegated: false,
} as const;
const up = buildCommand({
  loader: async () => (await import('./commands/up.ts')).up,
  parameters: {
    flags: {
      demo: { kind: 'boolean', brief: 'Also boot a first virtual machine and show it', default: false, withNegated: false },
      port: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Port of the API on 127.0.0.1; the next free one is taken when it is busy',
        default: '6443',
        placeholder: 'port',
      },
      nodes: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'How many nodes the cluster has; all are this machine, each with its share of it',
        optional: true,
        placeholder: 'number',
      },
    },
  },
  docs: { brief: 'Start the embedded cluster on this machine', customUsage: ['', '--demo', '--port 7443', '--nodes 2'] },
});

const down = buildCommand({
  loader: async () => (await import('./commands/down.ts')).down,
  parameters: {
    flags: {
      purge: { kind: 'boolean', brief: 'Also remove all data: machines, disks, images, certificates', default: false, withNegated: false },
    },
  },
  docs: { brief: 'Shut guests down gracefully and stop the embedded cluster', customUsage: ['', '--purge'] },
});

const status = buildCommand({
  loader: async () => (await import('./commands/status.ts')).status,
  parameters: {},
  docs: { brief: 'Show whether the embedded cluster runs, and its machines' },
});

const kubeconfig = buildCommand({
  loader: async () => (await import('./commands/kubeconfig.ts')).kubeconfig,
  parameters: {},
  docs: { brief: "Print the path of the embedded cluster's kubeconfig: export KUBECONFIG=$(virtctl kubeconfig)" },
});

const start = buildCommand({
  loader: async () => (await import('./commands/lifecycle.ts')).start,
  parameters: {
    flags: {
      ...connection,
      dryRun,
      paused: { kind: 'boolean', brief: 'Start with the processors stopped', default: false, withNegated: false },
    },
    positional: machine,
    aliases: connectionAliases,
  },
  docs: { brief: 'Start a virtual machine', customUsage: ['my-vm', 'vm my-vm -n test'] },
});

const stop = buildCommand({
  loader: async () => (await import('./commands/lifecycle.ts')).stop,
  parameters: {
    flags: {
      ...connection,
      dryRun,
      force: { kind: 'boolean', brief: 'Do not wait for the guest; needs --grace-period', default: false, withNegated: false },
      gracePeriod: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Seconds the guest has to shut down; needs --force',
        optional: true,
        placeholder: 'seconds',
      },
    },
    positional: machine,
    aliases: connectionAliases,
  },
  docs: { brief: 'Stop a virtual machine', customUsage: ['my-vm', 'my-vm --force --grace-period 0'] },
});

const restart = buildCommand({
  loader: async () => (await import('./commands/lifecycle.ts')).restart,
  parameters: {
    flags: {
      ...connection,
      dryRun,
      force: { kind: 'boolean', brief: 'Cut the guest off; needs --grace-period 0', default: false, withNegated: false },
      gracePeriod: { kind: 'parsed', parse: numberParser, brief: 'Only 0, together with --force', optional: true, placeholder: 'seconds' },
    },
    positional: machine,
    aliases: connectionAliases,
  },
  docs: { brief: 'Restart a virtual machine', customUsage: ['my-vm', 'my-vm --force --grace-period 0'] },
});

const onGuest = { flags: { ...connection, dryRun }, positional: machine, aliases: connectionAliases } as const;
const pause = buildCommand({
  loader: async () => (await import('./commands/lifecycle.ts')).pause,
  parameters: onGuest,
  docs: { brief: 'Stop the processors of a running machine', customUsage: ['my-vm', 'vmi my-vmi'] },
});
const unpause = buildCommand({
  loader: async () => (await import('./commands/lifecycle.ts')).unpause,
  parameters: onGuest,
  docs: { brief: 'Let a paused machine go on', customUsage: ['my-vm', 'vmi my-vmi'] },
});
const reset = buildCommand({
  loader: async () => (await import('./commands/lifecycle.ts')).reset,
  parameters: onGuest,
  docs: { brief: 'Reset a running machine at once, as its reset button would', customUsage: ['my-vm'] },
});
const softReboot = buildCommand({
  loader: async () => (await import('./commands/lifecycle.ts')).softReboot,
  parameters: onGuest,
  docs: { brief: 'Ask the guest to reboot itself: its agent, or else by Ctrl+Alt+Del', customUsage: ['my-vm'] },
});

const console_ = buildCommand({
  loader: async () => (await import('./commands/console.ts')).console,
  parameters: {
    flags: {
      ...connection,
      timeout: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Minutes to wait for the machine to run',
        default: '5',
        placeholder: 'minutes',
      },
    },
    positional: machine,
    aliases: connectionAliases,
  },
  docs: { brief: 'Connect to the serial console of a running machine; Ctrl+] leaves it', customUsage: ['my-vm'] },
});

const version = buildCommand({
  loader: async () => (await import('./commands/version.ts')).version,
  parameters: {
    flags: { ...connection, client: { kind: 'boolean', brief: 'Only the version of this program', default: false, withNegated: false } },
    aliases: { ...connectionAliases, c: 'client' },
  },
  docs: { brief: 'Print the versions of this program and of the server', customUsage: ['', '--client'] },
});

const backupFile = {
  kind: 'tuple',
  parameters: [{ brief: 'File of the backup', parse: String, placeholder: 'file' }],
} as const;
const backup = buildCommand({
  loader: async () => (await import('./commands/backup.ts')).backup,
  parameters: { flags: {}, positional: backupFile },
  docs: { brief: 'Write all objects of the embedded cluster into a file; disks are not in it', customUsage: ['cluster.backup'] },
});
const restore = buildCommand({
  loader: async () => (await import('./commands/backup.ts')).restore,
  parameters: {
    flags: {
      salvage: {
        kind: 'boolean',
        brief: 'Take what is whole of a damaged store (the one in place, or FILE) instead of a backup',
        default: false,
        withNegated: false,
      },
    },
    positional: {
      kind: 'tuple',
      parameters: [{ brief: 'File of the backup', parse: String, placeholder: 'file', optional: true }],
    },
  },
  docs: { brief: 'Give a stopped embedded cluster the objects of a backup', customUsage: ['cluster.backup', '--salvage'] },
});

/** The application; `run` of @stricli/core executes it. */
export function buildVirtctl(name = 'virtctl'): Application<Context> {
  const routes = buildRouteMap({
    routes: {
      up,
      down,
      status,
      kubeconfig,
      run,
      ls,
      top,
      start,
      stop,
      restart,
      pause,
      unpause,
      reset,
      softReboot,
      console: console_,
      vnc,
      ssh,
      scp,
      exec,
      guestosinfo,
      userlist,
      fslist,
      credentials,
      portForward,
      expose,
      logs,
      why,
      create,
      expand,
      image,
      doctor,
      install,
      uninstall,
      backup,
      restore,
      completion,
      version,
    },
    docs: { brief: 'Virtual machines as Kubernetes objects, run by QEMU' },
  });
  return buildApplication(routes, {
    name,
    scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
    documentation: { caseStyle: 'convert-camel-to-kebab', useAliasInUsageLine: true, onlyRequiredInUsageLine: true },
    localization: {
      text: {
        ...text_en,
        exceptionWhileRunningCommand: renderError,
        commandErrorResult: renderError,
        noCommandRegisteredForInput: (unknown) => notHere('command', unknown.input) ?? text_en.noCommandRegisteredForInput(unknown),
        exceptionWhileParsingArguments: (error, ansiColor) =>
          (error instanceof FlagNotFoundError ? notHere('flag', error.input) : undefined) ??
          text_en.exceptionWhileParsingArguments(error, ansiColor),
      },
    },
    determineExitCode: exitCodeOf,
  });
}
