/** Takes a key out of the Secrets from which the agent of a guest gets its keys. */
import { SECRETS } from '../../../../api/core/secret.ts';
import { ApiError } from '../../../../base/errors.ts';
import { chooseSecrets } from '../../../credentials/choose-secrets.ts';
import { removeKey } from '../../../credentials/keys.ts';
import { type KeyFlags, keyFrom, requireOwned, secretOf, vmOf } from '../../../credentials/secrets.ts';
import type { ClusterDeps } from '../../../deps.ts';
import { vmName } from '../../../vm-target.ts';

export async function run(deps: ClusterDeps, flags: KeyFlags, ...words: string[]): Promise<void> {
  const key = keyFrom(flags);
  const vm = await vmOf(deps, vmName('credentials remove-ssh-key', words));
  const secrets = await Promise.all(chooseSecrets(vm, { what: 'keys', ...flags }).map((name) => secretOf(deps, name)));
  const changes = secrets.flatMap((secret) => {
    const patch = removeKey(secret.data ?? {}, key);
    return patch ? [{ secret, patch }] : [];
  });
  if (changes.length === 0)
    throw new ApiError('NotFound', `the key is in none of the Secrets ${secrets.map(({ metadata }) => metadata.name).join(', ')}`);
  for (const { secret } of changes) requireOwned(secret, vm, flags);
  for (const { secret, patch } of changes) {
    const { resourceVersion } = secret.metadata; // an entry is written as a whole
    await deps.client.patch(SECRETS, secret.metadata, { metadata: { resourceVersion }, data: patch });
    deps.stdout.write(`the key was removed from Secret ${secret.metadata.name}\n`);
  }
}
