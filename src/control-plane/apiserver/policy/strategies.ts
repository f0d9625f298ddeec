/** What is demanded of policies and their bindings when they are written, beyond their schema. */
import { duplicateCause, forbiddenCause, invalidCause, requiredCause, tooManyCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual } from '../../../base/json.ts';
import { CelError, compileExpression } from '../cel/compile.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';
import { POLICY_VARIABLES } from './compile-policy.ts';
import type { Binding, Policy } from './policy.ts';

const MAX_EXPRESSIONS = 256;
const MAX_CONDITIONS = 64;
const ACTIONS = ['Audit', 'Deny', 'Warn'];
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

export const policyStrategy: Strategy = {
  prepareCreate: (object) => typeChecked(object, 1),
  prepareUpdate: (object, old, subresource) => {
    const isSame = subresource === 'status' || deepEqual(object['spec'], old['spec']);
    return isSame ? object : typeChecked(object, (old.metadata.generation ?? 0) + 1);
  },
  validate: (object, old) => {
    const [policy, before] = [object as unknown as Policy, old as unknown as Policy | undefined]; // only policies come here, and the schema has checked their shape
    return deepEqual(policy.spec, before?.spec) ? [] : policyCauses(policy);
  },
};

export const policyBindingStrategy: Strategy = {
  validate: (object) => bindingCauses(object as unknown as Binding), // as above
};

/** Expressions are checked before a policy is stored, without the types of what it matches: there is nothing left to warn of. */
function typeChecked(object: AnyObject, observedGeneration: number): AnyObject {
  return { ...object, status: { observedGeneration, typeChecking: {} } };
}

function policyCauses({ spec }: Policy): StatusCause[] {
  const { matchConstraints, matchConditions = [], variables = [], validations = [], auditAnnotations = [] } = spec;
  const causes: StatusCause[] = [];
  const lists = { variables, validations, auditAnnotations };
  for (const [field, list] of Object.entries(lists)) {
    if (list.length > MAX_EXPRESSIONS) causes.push(tooManyCause(`spec.${field}`, list.length, MAX_EXPRESSIONS));
  }
  if (matchConditions.length > MAX_CONDITIONS) causes.push(tooManyCause('spec.matchConditions', matchConditions.length, MAX_CONDITIONS));
  if (causes.length > 0) return causes; // each expression costs something to look at
  if ((matchConstraints?.resourceRules ?? []).length === 0) causes.push(requiredCause('spec.matchConstraints.resourceRules'));
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item';
    causes.push(requiredCause('spec.validations', why), requiredCause('spec.auditAnnotations', why));
  }
  const names = variables.map(({ name }) => name);
  causes.push(
    ...variables.flatMap(({ name, expression }, index) => {
      const at = `spec.variables[${index}]`;
      if (!IDENTIFIER.test(name)) return [invalidCause(`${at}.name`, name, 'name is not a valid CEL identifier')];
      if (names.indexOf(name) < index) return [duplicateCause(`${at}.name`, name)];
      return expressionCauses(expression, { at: `${at}.expression`, names: names.slice(0, index) });
    }),
    ...matchConditions.flatMap(({ expression }, index) =>
      expressionCauses(expression, { at: `spec.matchConditions[${index}].expression`, names, result: 'bool' }),
    ),
    ...validations.flatMap(({ expression, messageExpression = '' }, index) => [
      ...expressionCauses(expression, { at: `spec.validations[${index}].expression`, names, result: 'bool' }),
      ...(messageExpression === ''
        ? []
        : expressionCauses(messageExpression, { at: `spec.validations[${index}].messageExpression`, names, result: 'string' })),
    ]),
    ...auditAnnotations.flatMap(({ valueExpression }, index) =>
      expressionCauses(valueExpression, { at: `spec.auditAnnotations[${index}].valueExpression`, names }),
    ),
  );
  return causes;
}

type Place = { readonly at: string; readonly names: readonly string[]; readonly result?: 'bool' | 'string' };

/** Compiles against the variables that are there before it; `authorizer` is not known here, and so refused by its name. */
function expressionCauses(expression: string, { at, names, result }: Place): StatusCause[] {
  if (expression.trim() === '') return [requiredCause(at)];
  const fields = Object.fromEntries(names.map((name) => [name, 'dyn']));
  try {
    compileExpression(expression, {
      variables: { ...POLICY_VARIABLES, variables: 'PolicyVariables' },
      declare: (environment) => environment.registerType('PolicyVariables', { fields }),
      ...(result && { result }),
    });
    return [];
  } catch (error) {
    if (error instanceof CelError) return [invalidCause(at, expression, `compilation failed: ${error.message}`)];
    throw error;
  }
}

function bindingCauses({ spec }: Binding): StatusCause[] {
  const { policyName, paramRef, validationActions = [] } = spec;
  const field = 'spec.validationActions';
  const causes: StatusCause[] = [];
  if (!policyName) causes.push(requiredCause('spec.policyName'));
  if (validationActions.length === 0) causes.push(requiredCause(field, 'at least one validation action is required'));
  validationActions.forEach((action, index) => {
    if (!ACTIONS.includes(action)) causes.push(unsupportedCause(`${field}[${index}]`, action, ACTIONS));
    else if (validationActions.indexOf(action) < index) causes.push(duplicateCause(`${field}[${index}]`, action));
  });
  if (validationActions.includes('Deny') && validationActions.includes('Warn'))
    causes.push(
      invalidCause(
        field,
        validationActions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    );
  if (paramRef?.name && paramRef.selector) causes.push(forbiddenCause('spec.paramRef.name', 'name and selector are mutually exclusive'));
  if (paramRef && !paramRef.name && !paramRef.selector)
    causes.push(requiredCause('spec.paramRef', 'one of name or selector must be specified'));
  return causes;
}
