/**
 * What a policy says to one request.
 *
 *   a match condition comes to false        nothing: the policy is not about this request
 *   else one cannot be evaluated            refused; with failurePolicy Ignore nothing
 *   a validation comes to true              nothing
 *   a validation comes to anything else     refused: with messageExpression, message or the expression itself as the reason
 *   a validation cannot be evaluated        refused, with the failure as the reason; with failurePolicy Ignore nothing
 */
import { CelError } from '../cel/compile.ts';
import type { Budget } from '../cel/meter.ts';
import type { CompiledPolicy, Expression, Values } from './compile-policy.ts';
import type { Validation } from './policy.ts';

export type Refusal = { readonly message: string; readonly reason: string | undefined };

const MAX_MESSAGE = 5 * 1024;

/** Every reason to refuse. */
export function evaluatePolicy(compiled: CompiledPolicy, values: Values, budget: Budget): Refusal[] {
  const insists = compiled.policy.spec.failurePolicy !== 'Ignore';
  const failed = (message: string): Refusal[] => (insists ? [{ message, reason: undefined }] : []);
  const all = compiled.withVariables(values, budget);
  const matched = isMeant(compiled.conditions, all, budget);
  if (matched !== true) return matched === false ? [] : failed(matched);
  return compiled.validations.flatMap(({ validation, test, message }) => {
    try {
      if (test.evaluate(all, budget) === true) return [];
    } catch (error) {
      if (error instanceof CelError) return failed(`expression '${validation.expression}' resulted in error: ${error.message}`);
      throw error;
    }
    return [{ message: textOf(validation, () => message?.evaluate(all, budget)), reason: validation.reason }];
  });
}

/** Whether all conditions are true, or why that cannot be said. */
function isMeant(conditions: readonly Expression[], values: Values, budget: Budget): boolean | string {
  const failures: string[] = [];
  for (const condition of conditions) {
    try {
      if (condition.evaluate(values, budget) !== true) return false;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      failures.push(error.message);
    }
  }
  return failures.length === 0 || failures.join(', ');
}

/** An expression that says nothing of use leaves it to the message. */
function textOf({ message, expression }: Validation, evaluate: () => unknown): string {
  let made: unknown;
  try {
    made = evaluate();
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
  }
  if (typeof made === 'string' && made.trim() !== '' && made.length <= MAX_MESSAGE && !made.includes('\n')) return made.trim();
  return message?.trim() || `failed expression: ${expression.trim()}`;
}
