/**
 * ValidatingAdmissionPolicies, held against a write. Their bindings say what a refusal means:
 *
 *   Deny    the request is refused with the first reason: 422, or what the policy says
 *   Warn    it goes on, and its sender is warned
 *   Audit   it goes on, and the log has a line
 */
import { ApiError, STATUS_CODES, type StatusReason } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { Store } from '../../store/store.ts';
import { matchedVersion, type Surroundings } from '../admission/match.ts';
import { plainValue, reviewVariables } from '../admission/review-variables.ts';
import { Budget } from '../cel/meter.ts';
import { forbidden } from '../response/api-errors.ts';
import type { AdmissionAttributes } from '../server-parts.ts';
import { storeKey } from '../types/resource-type.ts';
import type { Values } from './compile-policy.ts';
import { evaluatePolicy, type Refusal } from './evaluate-policy.ts';
import { ConfigurationError, findParams } from './find-params.ts';
import type { PoliciesInForce, PolicyInForce } from './policies-in-force.ts';
import { constraintsOf, scopeOf } from './policy.ts';

const NAMESPACES = { group: '', plural: 'namespaces' };
/** The reasons that a policy may give; every other is Invalid. */
const REASONS: readonly StatusReason[] = ['Unauthorized', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'];

export type PolicyOptions = { readonly store: Store; readonly log: Logger; readonly policies: PoliciesInForce };

/** What to warn about; throws ApiError when a policy denies the request. One budget is there for all. */
export function assertPolicies(request: AdmissionAttributes, around: Surroundings, { store, log, policies }: PolicyOptions): string[] {
  const warnings: string[] = [];
  const asked: Asked = { request, store, budget: new Budget(), values: new Map() };
  let denied: ApiError | undefined;
  for (const inForce of policies.all) {
    const { compiled, binding } = inForce;
    const version = matchedVersion(constraintsOf(compiled.policy), request, around);
    if (version === undefined || matchedVersion(scopeOf(binding), request, around) === undefined) continue;
    const names = `ValidatingAdmissionPolicy '${compiled.policy.metadata.name}' with binding '${binding.metadata.name}'`;
    for (const refusal of refusals(inForce, version, asked)) {
      const actions = binding.spec.validationActions ?? [];
      if (actions.includes('Deny')) denied ??= denial(request, names, refusal);
      if (actions.includes('Warn')) warnings.push(`Validation failed for ${names}: ${refusal.message}`);
      if (actions.includes('Audit')) log.info('a policy would refuse a request', auditOf(request, names, refusal));
    }
  }
  if (denied) throw denied;
  return warnings;
}

type Asked = {
  readonly request: AdmissionAttributes;
  readonly store: Store;
  readonly budget: Budget;
  /** What expressions see of the request, by the version in which they do. */
  readonly values: Map<string, Values>;
};

function refusals({ compiled, binding }: PolicyInForce, version: string, { request, store, budget, values }: Asked): Refusal[] {
  const { paramKind, failurePolicy } = compiled.policy.spec;
  const seen = values.get(version) ?? { ...reviewVariables(request, version), namespaceObject: namespaceOf(store, request) };
  values.set(version, seen);
  try {
    const all = findParams(binding, { store, paramKind, requestNamespace: request.namespace });
    return all.flatMap((params) => evaluatePolicy(compiled, { ...seen, params: plainValue(params) }, budget));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return failurePolicy === 'Ignore' ? [] : [{ message: error.message, reason: undefined }];
  }
}

function namespaceOf(store: Store, { namespace }: AdmissionAttributes): unknown {
  return plainValue(namespace === undefined ? null : store.get(storeKey(NAMESPACES, undefined, namespace))?.value);
}

function denial({ type, name }: AdmissionAttributes, names: string, { message, reason }: Refusal): ApiError {
  const why = `${names} denied request: ${message}`;
  const word = REASONS.find((each) => each === reason) ?? 'Invalid';
  const { message: text, details } = forbidden(type, name, why);
  return new ApiError(word, text, { code: STATUS_CODES[word], details: { ...details, causes: [{ message: why } as never] } }); // as upstream: a cause without a field
}

function auditOf({ operation, type, namespace, name, identity }: AdmissionAttributes, policy: string, { message }: Refusal) {
  const object = `${type.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  return { object, operation, user: identity.user, policy, because: message };
}
