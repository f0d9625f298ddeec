/** Sets a password in the Secret from which the agent of a guest gets them. */
import { SECRETS } from '../../../../api/core/secret.ts';
import { chooseSecrets } from '../../../credentials/choose-secrets.ts';
import { encode } from '../../../credentials/keys.ts';
import { type CredentialFlags, requireOwned, secretOf, vmOf } from '../../../credentials/secrets.ts';
import type { ClusterDeps } from '../../../deps.ts';
import { vmName } from '../../../vm-target.ts';

type PasswordFlags = CredentialFlags & { readonly password: string };

export async function run(deps: ClusterDeps, flags: PasswordFlags, ...words: string[]): Promise<void> {
  const vm = await vmOf(deps, vmName('credentials set-password', words));
  const [name = ''] = chooseSecrets(vm, { what: 'passwords', ...flags });
  const secret = await secretOf(deps, name);
  requireOwned(secret, vm, flags);
  await deps.client.patch(SECRETS, secret.metadata, { data: { [flags.user]: encode(flags.password) } });
  deps.stdout.write(`the password of ${flags.user} was set in Secret ${name}\n`);
}
