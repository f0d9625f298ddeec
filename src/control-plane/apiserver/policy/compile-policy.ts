/** The expressions of a policy, compiled once for as long as it stays as it is, and the variables that they share. */
import { CelError, type Compiled, compileExpression } from '../cel/compile.ts';
import type { Budget } from '../cel/meter.ts';
import type { Policy, Validation } from './policy.ts';

/** What expressions may speak of, each of any type. */
export const POLICY_VARIABLES = {
  object: 'dyn',
  oldObject: 'dyn',
  request: 'dyn',
  params: 'dyn',
  namespaceObject: 'dyn',
  variables: 'dyn',
};

/** An expression that never compiled fails each time it is asked. */
export type Expression = { evaluate(values: Values, budget: Budget): unknown };
export type Values = Readonly<Record<string, unknown>>;

export type CompiledPolicy = {
  readonly policy: Policy;
  readonly conditions: readonly Expression[];
  readonly validations: readonly { readonly validation: Validation; readonly test: Expression; readonly message: Expression | undefined }[];
  /** The values with `variables` among them: each is worked out when somebody asks for it, once. */
  withVariables(values: Values, budget: Budget): Values;
};

export function compilePolicy(policy: Policy): CompiledPolicy {
  const { matchConditions = [], variables = [], validations = [] } = policy.spec;
  const named = variables.map(({ name, expression }) => ({ name, expression: compiled(expression) }));
  return {
    policy,
    conditions: matchConditions.map(({ expression }) => compiled(expression, 'bool')),
    validations: validations.map((validation) => ({
      validation,
      test: compiled(validation.expression, 'bool'),
      message: validation.messageExpression ? compiled(validation.messageExpression, 'string') : undefined,
    })),
    withVariables(values, budget) {
      const all = { ...values, variables: {} };
      for (const { name, expression } of named) {
        const get = once(() => expression.evaluate(all, budget));
        Object.defineProperty(all.variables, name, { get, enumerable: true });
      }
      return all;
    },
  };
}

/** Policies are checked when they are written; one that an older server took may still have what this one does not know. */
function compiled(source: string, result?: 'bool' | 'string'): Expression {
  let ready: Compiled | undefined;
  return {
    evaluate(values, budget) {
      ready ??= compileExpression(source, { variables: POLICY_VARIABLES, ...(result && { result }) });
      return ready.evaluate(values, budget);
    },
  };
}

/** The value, or the failure, again and again. */
function once(work: () => unknown): () => unknown {
  let outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
  return () => {
    outcome ??= attempt(work);
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
}

function attempt(work: () => unknown): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof CelError) return { error };
    throw error;
  }
}
