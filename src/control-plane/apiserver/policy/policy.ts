/** A ValidatingAdmissionPolicy and its binding as they are stored. The schema of the built-in kinds has filled in the defaults. */
import type { LabelSelector } from '../../../base/selectors.ts';
import type { Matching } from '../admission/match.ts';
import type { MatchCondition, WebhookRule } from '../admission/webhook.ts';
import type { AnyObject } from '../types/resource-type.ts';

export const POLICIES_PREFIX = 'admissionregistration.k8s.io/validatingadmissionpolicies/';
export const BINDINGS_PREFIX = 'admissionregistration.k8s.io/validatingadmissionpolicybindings/';

type MatchResources = {
  readonly resourceRules?: readonly WebhookRule[];
  readonly excludeResourceRules?: readonly WebhookRule[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
};

export type Validation = {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
};

export type Variable = { readonly name: string; readonly expression: string };
export type ParamKind = { readonly apiVersion: string; readonly kind: string };

export type Policy = AnyObject & {
  readonly spec: {
    readonly failurePolicy?: string;
    readonly paramKind?: ParamKind;
    readonly matchConstraints?: MatchResources;
    readonly matchConditions?: readonly MatchCondition[];
    readonly variables?: readonly Variable[];
    readonly validations?: readonly Validation[];
    readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
  };
};

export type ParamRef = {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
};

export type Binding = AnyObject & {
  readonly spec: {
    readonly policyName: string;
    readonly paramRef?: ParamRef;
    readonly matchResources?: MatchResources;
    readonly validationActions?: readonly string[];
  };
};

const ANYTHING: WebhookRule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*', '*'] };

/** Which requests the policy is about. */
export function constraintsOf({ spec }: Policy): Matching {
  return matchingOf(spec.matchConstraints ?? {}, spec.matchConstraints?.resourceRules ?? []);
}

/** Which of them the binding puts it in force for: all, unless it says otherwise. */
export function scopeOf({ spec }: Binding): Matching {
  const rules = spec.matchResources?.resourceRules ?? [];
  return matchingOf(spec.matchResources ?? {}, rules.length > 0 ? rules : [ANYTHING]);
}

function matchingOf(resources: MatchResources, rules: readonly WebhookRule[]): Matching {
  const { excludeResourceRules, matchPolicy, namespaceSelector, objectSelector } = resources;
  return { rules, exceptRules: excludeResourceRules, matchPolicy, namespaceSelector, objectSelector };
}
