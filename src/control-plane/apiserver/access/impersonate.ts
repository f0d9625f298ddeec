/** Acting as somebody else: everything that a request claims to be is allowed one by one, with the verb `impersonate`. */
import { ApiError } from '../../../base/errors.ts';
import { ALL_AUTHENTICATED, ANONYMOUS, type Identity } from '../transport/identity.ts';
import { authorize } from './authorize.ts';
import type { RuleIndex } from './rule-index.ts';

const EXTRA = 'impersonate-extra-';
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The identity that the headers ask for, or the caller's own; Forbidden when the caller may not be that. */
export function impersonated(rules: RuleIndex, caller: Identity, headers: Headers): Identity {
  const names = [...headers.keys()].filter((name) => name.startsWith('impersonate-'));
  if (names.length === 0) return caller;
  const user = headers.get('impersonate-user');
  if (!user) throw new ApiError('BadRequest', `requested ${names.join(', ')} without impersonating a user`);
  const unknown = names.find(
    (name) => !['impersonate-user', 'impersonate-group', 'impersonate-uid'].includes(name) && !name.startsWith(EXTRA),
  );
  if (unknown) throw new ApiError('BadRequest', `${unknown} is not a header that this server knows`);

  const groups = valuesOf(headers, 'impersonate-group');
  const uid = headers.get('impersonate-uid') ?? undefined;
  const extra = Object.fromEntries(
    names.filter((name) => name.startsWith(EXTRA)).map((name) => [decoded(name.slice(EXTRA.length)), valuesOf(headers, name)]),
  );
  assertMayBe(rules, caller, { user, groups, uid, extra });
  return {
    user,
    groups: completeGroups(user, groups),
    ...(uid !== undefined && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function assertMayBe(rules: RuleIndex, caller: Identity, { user, groups, uid, extra = {} }: Identity): void {
  const check = (group: string, resource: string, name: string, more: { subresource?: string; namespace?: string } = {}) =>
    authorize(rules, caller, {
      type: 'resource',
      verb: 'impersonate',
      group,
      resource,
      subresource: more.subresource,
      namespace: more.namespace,
      name,
    });
  const [, namespace, name = ''] = SERVICE_ACCOUNT.exec(user) ?? [];
  if (namespace === undefined) check('', 'users', user);
  else check('', 'serviceaccounts', name, { namespace });
  for (const group of groups) check('', 'groups', group);
  if (uid !== undefined) check('authentication.k8s.io', 'uids', uid);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) check('authentication.k8s.io', 'userextras', value, { subresource: key });
  }
}

/** A service account is in its groups without saying so, and everybody with a name is authenticated. */
function completeGroups(user: string, groups: readonly string[]): readonly string[] {
  if (user === ANONYMOUS.user) return [...new Set([...groups, ...ANONYMOUS.groups])];
  const namespace = SERVICE_ACCOUNT.exec(user)?.[1];
  const own = namespace !== undefined && groups.length === 0 ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : groups;
  return [...new Set([...own, ALL_AUTHENTICATED])];
}

/** A header that comes several times arrives as one text. Names with a comma cannot be told apart, as they cannot in a log. */
function valuesOf(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? '').split(/, ?/).filter((value) => value !== '');
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key).toLowerCase();
  } catch {
    throw new ApiError('BadRequest', `the header ${EXTRA}${key} is not correctly percent-encoded`);
  }
}
