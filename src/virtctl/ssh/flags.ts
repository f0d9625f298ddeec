/** Flags that ssh and scp share. */
import { numberParser } from '@stricli/core';
import { connection, connectionAliases, text } from '../parameters.ts';

export const sshFlags = {
  ...connection,
  port: { kind: 'parsed', parse: numberParser, brief: 'Port of the guest', default: '22', placeholder: 'port' },
  username: {
    ...text,
    brief: 'User in the guest (default: the one in the target, else that of the annotation kubevirt.io/login-user, else yours)',
    optional: true,
    placeholder: 'user',
  },
  identityFile: {
    ...text,
    brief: 'Private key (default: $VIRT_HOME/ssh/id_ed25519 if it is there, and as ssh finds it)',
    optional: true,
    placeholder: 'file',
  },
  knownHosts: {
    ...text,
    brief: 'File with the keys of known hosts (default: none is checked on the embedded cluster, else as ssh finds it)',
    optional: true,
    placeholder: 'file',
  },
  localSshOpts: { ...text, brief: 'Further option for ssh itself; can be repeated', optional: true, variadic: true, placeholder: 'option' },
} as const;
export const sshAliases = { ...connectionAliases, p: 'port', l: 'username', i: 'identityFile', t: 'localSshOpts' } as const;
