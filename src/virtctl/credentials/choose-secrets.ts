/** Which Secrets of a machine hold the keys or the passwords of a user. Pure. */
import { credentialSourcesOf } from '../../api/kubevirt/access-credentials.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { UserError } from '../../base/errors.ts';

export type Wish = { readonly what: 'keys' | 'passwords'; readonly user: string; readonly secret?: string | undefined };

/** Their names, in the order of the manifest; a UserError when there is none that the guest agent would bring to that user. */
export function chooseSecrets(vm: VirtualMachine, { what, user, secret }: Wish): string[] {
  const names = credentialSourcesOf(vm.spec.template.spec).flatMap((source) => {
    const isMeant = what === 'passwords' ? source.way === 'agent-passwords' : source.way === 'agent-keys' && source.users.includes(user);
    return isMeant && (secret === undefined || source.secretName === secret) ? [source.secretName] : [];
  });
  if (names.length > 0) return [...new Set(names)];
  const { name } = vm.metadata;
  throw new UserError(
    'NO_CREDENTIALS',
    `${name} takes no ${what} for ${user} from ${secret === undefined ? 'a Secret' : `the Secret ${secret}`}`,
    {
      why: `no entry of its accessCredentials brings ${what} to that user by the guest agent`,
      fix:
        what === 'keys'
          ? `virtctl credentials add-ssh-key ${name} --create-secret, with --force when it runs; it takes effect at the next start`
          : 'add one to the manifest (virtctl create vm --access-cred type:password,src:SECRET shows it); it takes effect at the next start',
      exitCode: 4,
    },
  );
}
