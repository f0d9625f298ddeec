/** The objects that a binding names as parameters of its policy. */
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import type { Store } from '../../store/store.ts';
import { BUILT_IN_KINDS } from '../types/built-in-kinds-table.ts';
import { type Crd, isEstablished } from '../types/custom-resource-types.ts';
import { CRD_PREFIX } from '../types/resource-registry.ts';
import { type AnyObject, storeKey, storePrefix } from '../types/resource-type.ts';
import type { Binding, ParamKind } from './policy.ts';

/** Each is a whole evaluation. */
const MAX_PARAMS = 100;

/** Why a policy cannot be asked: it is told to whoever made the request. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

export type ParamSource = {
  readonly store: Store;
  readonly paramKind: ParamKind | undefined;
  readonly requestNamespace: string | undefined;
};

/** With what to evaluate: once for each; once without any where the policy has no parameters, or the binding lets them be missing. */
export function findParams({ spec: { paramRef } }: Binding, source: ParamSource): readonly (AnyObject | null)[] {
  const { paramKind } = source;
  if (!paramKind || !paramRef) return [null];
  const found = objectsOf(paramRef, { ...source, paramKind });
  if (found.length > MAX_PARAMS) throw new ConfigurationError(`failed to configure binding: more than ${MAX_PARAMS} params`);
  if (found.length > 0) return found.map((each) => ({ ...each, ...paramKind }));
  if (paramRef.parameterNotFoundAction === 'Deny')
    throw new ConfigurationError('failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction');
  return [null];
}

function objectsOf(
  { name, namespace, selector }: NonNullable<Binding['spec']['paramRef']>,
  { store, paramKind, requestNamespace }: ParamSource & { paramKind: ParamKind },
): AnyObject[] {
  const type = typeOf(store, paramKind);
  if (!type.isNamespaced && namespace)
    throw new ConfigurationError('failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  const place = type.isNamespaced ? namespace || requestNamespace : undefined;
  if (type.isNamespaced && !place)
    throw new ConfigurationError(
      'failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  if (name) {
    const entry = store.get(storeKey(type, place, name));
    return entry ? [entry.value as unknown as AnyObject] : []; // everything stored is an object
  }
  const wanted = requirementsOf(selector ?? {});
  return store
    .list(storePrefix(type, place ?? ''))
    .map(({ value }) => value as unknown as AnyObject) // as above
    .filter(({ metadata }) => matchesLabels(wanted, metadata.labels));
}

function typeOf(store: Store, { apiVersion, kind }: ParamKind) {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const builtIn = BUILT_IN_KINDS.find((each) => each.group === group && each.version === version && each.kind === kind && !each.isReview);
  if (builtIn) return { group: builtIn.group, plural: builtIn.plural, isNamespaced: !builtIn.isClusterWide };
  const crds = store.list(CRD_PREFIX).map(({ value }) => value as unknown as Crd); // written through the strategy of definitions
  const crd = crds.find(({ spec }) => spec.group === group && spec.names.kind === kind);
  const isServed = crd?.spec.versions.some(({ name, served }) => served && name === version);
  if (!crd || !isServed || !isEstablished(crd))
    throw new ConfigurationError(
      `failed to configure policy: failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`,
    );
  return { group: crd.spec.group, plural: crd.spec.names.plural, isNamespaced: crd.spec.scope === 'Namespaced' };
}
