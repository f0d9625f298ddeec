/** `type:ssh,src:SECRET,method:ga,user:NAME` as KubeVirt's virtctl takes it: keys or passwords for a guest, from a Secret. */
import { UserError } from '../../base/errors.ts';
import type { AccessCredential } from '../../sdk/manifest/vm.ts';
import { parseParts } from './parse-parts.ts';

const KEYS = ['type', 'src', 'method', 'user'];

/** What goes into the manifest; `defaultUser` is the one of --user. Throws a UserError with what is wrong about it. */
export function parseAccessCredential(text: string, defaultUser?: string): AccessCredential {
  const parts = parseParts(text, { keys: KEYS, wrong });
  const type = parts.get('type') ?? 'ssh';
  const secretName = parts.get('src');
  const method = parts.get('method') ?? 'ga';
  const user = parts.get('user');
  if (!secretName) throw wrong(text, 'src:SECRET is missing');
  const source = { secret: { secretName } };
  if (type === 'password') return passwordFrom(text, { source, method, user });
  if (type !== 'ssh') throw wrong(text, `type:${type} is neither ssh nor password`);
  if (method === 'nocloud') {
    if (user !== undefined) throw wrong(text, 'user:NAME goes with method:ga; cloud-init gives the keys to its first user');
    return { sshPublicKey: { source, propagationMethod: { noCloud: {} } } };
  }
  if (method !== 'ga') throw wrong(text, whyNoMethod(method));
  const owner = user ?? defaultUser;
  if (!owner) throw wrong(text, 'method:ga needs user:NAME, or --user');
  return { sshPublicKey: { source, propagationMethod: { qemuGuestAgent: { users: [owner] } } } };
}

type Password = { readonly source: { secret: { secretName: string } }; readonly method: string; readonly user: string | undefined };

function passwordFrom(text: string, { source, method, user }: Password): AccessCredential {
  if (method !== 'ga') throw wrong(text, 'passwords come by the guest agent alone: method:ga');
  if (user !== undefined) throw wrong(text, 'the users of passwords are the keys of the Secret');
  return { userPassword: { source, propagationMethod: { qemuGuestAgent: {} } } };
}

function whyNoMethod(method: string): string {
  if (method === 'configdrive') return 'virtctl writes no config drives; method:nocloud does the same';
  return `method:${method} is neither ga nor nocloud`;
}

function wrong(text: string, why: string): UserError {
  return new UserError('USAGE', `the access credential ${text} is not understood`, {
    why,
    fix: 'say type:ssh,src:SECRET,method:ga,user:NAME or type:ssh,src:SECRET,method:nocloud or type:password,src:SECRET',
    exitCode: 2,
  });
}
