/**
 * Which roles are bound to whom, kept by subject and namespace, so that a request looks only at bindings that are its own.
 * Follows the store commit by commit: a write to a role or a binding counts for the next request.
 */
import type { Entry } from '../../store/entry.ts';
import type { Store } from '../../store/store.ts';
import type { Identity } from '../transport/identity.ts';
import type { PolicyRule } from './policy-rule.ts';

type Subject = { readonly kind: string; readonly name: string; readonly namespace?: string };
type RoleRef = { readonly kind: string; readonly name: string };
type Binding = { readonly roleRef: RoleRef; readonly subjects?: readonly Subject[] | null };
/** The store key of a role, by the store key of the binding that grants it. */
type Grants = Map<string, string>;

const GROUP = 'rbac.authorization.k8s.io';
const PREFIXES = [`${GROUP}/clusterrolebindings/`, `${GROUP}/rolebindings/`];
/** Where grants of ClusterRoleBindings are kept: no namespace is called so. */
const EVERYWHERE = '';

export class RuleIndex {
  readonly #store: Store;
  /** By subject, then by namespace. */
  readonly #grants = new Map<string, Map<string, Grants>>();
  readonly #stops: readonly (() => void)[];

  constructor(store: Store) {
    this.#store = store;
    for (const prefix of PREFIXES) for (const entry of store.list(prefix)) this.#add(entry);
    this.#stops = PREFIXES.map((prefix) =>
      store.watch(prefix, store.revision, ({ entry, previous }) => {
        if (previous) this.#remove(previous);
        if (entry) this.#add(entry);
      }),
    );
  }

  /** Every rule that the identity holds cluster-wide and, if one is named, in a namespace. */
  *rulesFor({ user, groups }: Pick<Identity, 'user' | 'groups'>, namespace: string | undefined): Generator<PolicyRule> {
    yield* this.#rulesOf(`User ${user}`, namespace);
    for (const group of groups) yield* this.#rulesOf(`Group ${group}`, namespace);
  }

  /** The rules of the role that a binding in `namespace` (or a ClusterRoleBinding) refers to; none when it is not there. */
  rulesOfRole(roleRef: RoleRef, namespace: string | undefined): readonly PolicyRule[] {
    return this.#rulesAt(roleKey(roleRef, namespace ?? EVERYWHERE));
  }

  /** Stops following the store. */
  close(): void {
    for (const stop of this.#stops) stop();
  }

  *#rulesOf(subject: string, namespace: string | undefined): Generator<PolicyRule> {
    const granted = this.#grants.get(subject);
    if (!granted) return;
    for (const role of granted.get(EVERYWHERE)?.values() ?? []) yield* this.#rulesAt(role);
    if (namespace === undefined || namespace === EVERYWHERE) return;
    for (const role of granted.get(namespace)?.values() ?? []) yield* this.#rulesAt(role);
  }

  #rulesAt(key: string): readonly PolicyRule[] {
    const role = this.#store.get(key)?.value as { rules?: readonly PolicyRule[] | null } | undefined; // checked by the schema when it was written
    return role?.rules ?? [];
  }

  #add({ key, value }: Entry): void {
    const { roleRef } = value as Binding; // checked by the schema when it was written
    for (const [subject, namespace] of placesOf({ key, value })) {
      const granted = this.#grants.get(subject) ?? new Map<string, Grants>();
      this.#grants.set(subject, granted);
      const grants = granted.get(namespace) ?? new Map<string, string>();
      granted.set(namespace, grants);
      grants.set(key, roleKey(roleRef, namespace));
    }
  }

  #remove(entry: Pick<Entry, 'key' | 'value'>): void {
    for (const [subject, namespace] of placesOf(entry)) {
      const granted = this.#grants.get(subject);
      const grants = granted?.get(namespace);
      grants?.delete(entry.key);
      if (grants?.size === 0) granted?.delete(namespace);
      if (granted?.size === 0) this.#grants.delete(subject);
    }
  }
}

/** Where the grants of a binding are kept: one place per subject. */
function placesOf({ key, value }: Pick<Entry, 'key' | 'value'>): [subject: string, namespace: string][] {
  const namespace = key.split('/')[2] ?? EVERYWHERE;
  const { subjects } = value as Binding; // checked by the schema when it was written
  return (subjects ?? []).map((subject) => [subjectKey(subject), namespace]);
}

function subjectKey({ kind, name, namespace }: Subject): string {
  return kind === 'ServiceAccount' ? `User system:serviceaccount:${namespace ?? ''}:${name}` : `${kind} ${name}`;
}

/** A ClusterRoleBinding refers to nothing but ClusterRoles. */
function roleKey({ kind, name }: RoleRef, namespace: string): string {
  const isClusterWide = kind === 'ClusterRole' || namespace === EVERYWHERE;
  return isClusterWide ? `${GROUP}/clusterroles//${name}` : `${GROUP}/roles/${namespace}/${name}`;
}
