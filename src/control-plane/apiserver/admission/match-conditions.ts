/**
 * matchConditions of webhooks: expressions in CEL that say what a webhook does not want to be asked about.
 *
 *   one comes to false               the webhook is not asked, whatever the others come to
 *   else one cannot be evaluated     failurePolicy Fail: 403; Ignore: the webhook is not asked
 *   all come to true                 it is asked
 */
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import { ApiError, type StatusCause } from '../../../base/errors.ts';
import { CelError, type Compiled, compileExpression } from '../cel/compile.ts';
import { Budget } from '../cel/meter.ts';
import type { AdmissionAttributes } from '../server-parts.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';
import { reviewVariables } from './review-variables.ts';
import { type MatchCondition, type Webhook, webhooksOf } from './webhook.ts';

const VARIABLES = { object: 'dyn', oldObject: 'dyn', request: 'dyn' };
const MAX_CONDITIONS = 64;

/** Whether the webhook wants to be asked; throws ApiError when that cannot be said and it insists. */
export function wantsToBeAsked(webhook: Webhook, request: AdmissionAttributes, version: string): boolean {
  const conditions = webhook.matchConditions ?? [];
  if (conditions.length === 0) return true;
  const variables = reviewVariables(request, version);
  const budget = new Budget();
  const failures: string[] = [];
  for (const condition of conditions) {
    try {
      if (compiled(condition).evaluate(variables, budget) !== true) return false;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      failures.push(error.message);
    }
  }
  if (failures.length === 0) return true;
  if (webhook.failurePolicy === 'Ignore') return false;
  const { plural, group } = request.type;
  const resource = group === '' ? plural : `${plural}.${group}`;
  throw new ApiError('Forbidden', `${resource} "${request.name}" is forbidden: ${failures.join(', ')}`);
}

const known = new WeakMap<MatchCondition, Compiled>();

/** Compiled once for as long as its configuration stays as it is. */
function compiled(condition: MatchCondition): Compiled {
  const ready = known.get(condition) ?? compileExpression(condition.expression, { variables: VARIABLES, result: 'bool' });
  known.set(condition, ready);
  return ready;
}

/** The rules of both kinds of webhook configurations. */
export const webhookConfigurationStrategy: Strategy = {
  validate: (object, old) => conditionCauses(object, old),
};

/** What is wrong with conditions; those that an update leaves as they are stay as they are. */
function conditionCauses(configuration: AnyObject, old: AnyObject | undefined): StatusCause[] {
  const stored = new Set(
    (old ? webhooksOf(old) : []).flatMap(({ matchConditions = [] }) => matchConditions.map(({ expression }) => expression)),
  );
  return webhooksOf(configuration).flatMap(({ matchConditions = [] }, index) => {
    const field = `webhooks[${index}].matchConditions`;
    if (matchConditions.length > MAX_CONDITIONS) {
      return [
        { reason: 'FieldValueTooMany', message: `Too many: ${matchConditions.length}: must have at most ${MAX_CONDITIONS} items`, field },
      ];
    }
    return matchConditions.flatMap(({ expression }, each) => {
      const at = `${field}[${each}].expression`;
      if (!expression?.trim()) return [requiredCause(at)];
      return stored.has(expression) ? [] : expressionCauses(expression, at);
    });
  });
}

function expressionCauses(expression: string, field: string): StatusCause[] {
  try {
    compileExpression(expression, { variables: VARIABLES, result: 'bool' });
    return [];
  } catch (error) {
    if (error instanceof CelError) return [invalidCause(field, expression, `compilation failed: ${error.message}`)];
    throw error;
  }
}
