/** The policies that a binding puts in force, kept beside the store: a change is known before its writer gets the answer. */
import type { Store } from '../../store/store.ts';
import { type CompiledPolicy, compilePolicy } from './compile-policy.ts';
import { BINDINGS_PREFIX, type Binding, POLICIES_PREFIX, type Policy } from './policy.ts';

export type PolicyInForce = { readonly compiled: CompiledPolicy; readonly binding: Binding };

export class PoliciesInForce {
  readonly #store: Store;
  readonly #compiled = new Map<string, { readonly revision: number; readonly compiled: CompiledPolicy }>();
  #all: readonly PolicyInForce[] = [];
  readonly #stops: readonly (() => void)[];

  constructor(store: Store) {
    this.#store = store;
    this.#read();
    this.#stops = [POLICIES_PREFIX, BINDINGS_PREFIX].map((prefix) => store.watch(prefix, store.revision, () => this.#read()));
  }

  /** By the names of the policies, then of the bindings. */
  get all(): readonly PolicyInForce[] {
    return this.#all;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  #read(): void {
    const bindings = Map.groupBy(
      this.#store.list(BINDINGS_PREFIX).map(({ value }) => value as unknown as Binding), // checked when it was stored
      ({ spec }) => spec.policyName,
    );
    const policies = this.#store.list(POLICIES_PREFIX);
    const there = new Set(policies.map(({ key }) => key));
    for (const key of this.#compiled.keys()) if (!there.has(key)) this.#compiled.delete(key);
    this.#all = policies.flatMap(({ key, revision, value }) => {
      const policy = value as unknown as Policy; // as above
      return (bindings.get(policy.metadata.name) ?? []).map((binding) => ({
        compiled: this.#compile(key, revision, policy),
        binding,
      }));
    });
  }

  #compile(key: string, revision: number, policy: Policy): CompiledPolicy {
    const known = this.#compiled.get(key);
    if (known?.revision === revision) return known.compiled;
    const compiled = compilePolicy(policy);
    this.#compiled.set(key, { revision, compiled });
    return compiled;
  }
}
