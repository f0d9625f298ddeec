/** What an agent is asked to set: whose keys, whose passwords. Pure. */
import type { CredentialSource } from '../../api/kubevirt/access-credentials.ts';
import type { Question } from './channel.ts';

/** The values of a Secret by their keys. */
export type SecretValues = ReadonlyMap<string, Buffer>;

const USER = /^[^\s:/\\'"-][^\s:/\\'"]{0,63}$/;

/** The questions, in an order that depends on nothing but the content. Secrets that are not there yet are left out. */
export function credentialQuestions(sources: readonly CredentialSource[], secrets: ReadonlyMap<string, SecretValues>): Question[] {
  const keys = new Map<string, string[]>();
  const passwords = new Map<string, string>();
  for (const source of sources) {
    const values = secrets.get(source.secretName);
    if (!values || source.way === 'cloud-init') continue;
    if (source.way === 'agent-passwords') for (const [user, password] of values) passwords.set(user, password.toString('base64'));
    else for (const user of source.users) keys.set(user, [...(keys.get(user) ?? []), ...[...values.values()].flatMap(linesOf)]);
  }
  return [
    ...sorted(keys).map(([username, list]): Question => {
      const unique = [...new Set(list)].sort();
      return { command: 'guest-ssh-add-authorized-keys', arguments: { username, keys: unique, reset: true } };
    }),
    ...sorted(passwords).map(
      ([username, password]): Question => ({ command: 'guest-set-user-password', arguments: { username, password, crypted: false } }),
    ),
  ];
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].filter(([user]) => USER.test(user)).sort(([a], [b]) => (a < b ? -1 : 1));
}

function linesOf(value: Buffer): string[] {
  const lines = value.toString('utf8').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}
