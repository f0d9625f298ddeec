/** Flags of the commands about credentials. */
import { connection, connectionAliases, off, text } from '../../parameters.ts';

export const flags = {
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
export const aliases = { ...connectionAliases, u: 'user' } as const;
export const key = {
  file: { ...text, brief: 'File with the public key', optional: true, placeholder: 'file' },
  value: { ...text, brief: 'The public key itself', optional: true, placeholder: 'key' },
} as const;
