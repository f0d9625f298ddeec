/** `virtctl credentials …`: definitions only, each is loaded when it is called. */
import { buildCommand, buildRouteMap } from '@stricli/core';
import { connection, connectionAliases, machine, off, text } from './parameters.ts';

const flags = {
  ...connection,
  user: { ...text, brief: 'User in the guest', placeholder: 'name' },
  secret: {
    ...text,
    brief: 'Secret to change (default: the one that the machine names for this user)',
    optional: true,
    placeholder: 'name',
  },
  force: off('Change a Secret that does not belong to the machine alone'),
} as const;
const aliases = { ...connectionAliases, u: 'user' } as const;
const key = {
  file: { ...text, brief: 'File with the public key', optional: true, placeholder: 'file' },
  value: { ...text, brief: 'The public key itself', optional: true, placeholder: 'key' },
} as const;

const addSshKey = buildCommand({
  loader: async () => (await import('./commands/credentials.ts')).addSshKey,
  parameters: {
    flags: {
      ...flags,
      force: off('Change a Secret that does not belong to the machine alone; with --create-secret, also while it runs'),
      ...key,
      createSecret: off('Make a new Secret for the key; the machine takes it at its next start'),
      updateSecret: off('Add the key to --secret, and let the machine use that Secret from its next start on'),
    },
    positional: machine,
    aliases: { ...aliases, f: 'file' },
  },
  docs: {
    brief: 'Let somebody with this key log in to a guest; a running guest with an agent takes it at once',
    customUsage: [
      '--user root --file ~/.ssh/id_ed25519.pub my-vm',
      { input: '--create-secret --user root --file ~/.ssh/id_ed25519.pub my-vm', brief: 'for a machine that has no keys yet' },
    ],
  },
});

const removeSshKey = buildCommand({
  loader: async () => (await import('./commands/credentials.ts')).removeSshKey,
  parameters: { flags: { ...flags, ...key }, positional: machine, aliases: { ...aliases, f: 'file' } },
  docs: {
    brief: 'Take a key away from a guest',
    customUsage: [
      '--user root --file ~/.ssh/id_ed25519.pub my-vm',
      { input: '--user root --value "ssh-ed25519 AAAA..." my-vm', brief: 'by the key itself' },
    ],
  },
});

const setPassword = buildCommand({
  loader: async () => (await import('./commands/credentials.ts')).setPassword,
  parameters: {
    flags: { ...flags, password: { ...text, brief: 'The new password', placeholder: 'password' } },
    positional: machine,
    aliases: { ...aliases, p: 'password' },
  },
  docs: {
    brief: 'Set the password of a user of a guest; a running guest with an agent takes it at once',
    customUsage: [
      '--user root --password letmein my-vm',
      { input: '--user root --password letmein --force my-vm', brief: 'in a Secret that others use, too' },
    ],
  },
});

export const credentials = buildRouteMap({
  routes: { addSshKey, removeSshKey, setPassword },
  docs: { brief: 'Change the keys and passwords of a guest' },
});
