/** An expression of CEL as something that can be evaluated again and again, for a bounded cost each time. */
import type { Environment } from '@marcbachmann/cel-js';
import { isObject } from '../../../base/json.ts';
import { kubernetesEnvironment, SAFE_MATCHES } from './environment.ts';
import { type Budget, deepSizeOf, Meter, sizeOf } from './meter.ts';

/** What is wrong with an expression, in one line. */
export class CelError extends Error {
  override readonly name: string = 'CelError';
}

/** Nothing is wrong with it but what it costs. */
export class CostExceeded extends CelError {
  override readonly name = 'CostExceeded';
}

export type Compiled = {
  /** Whether the expression speaks of a variable. */
  uses(name: string): boolean;
  /** Throws CelError when it cannot be evaluated, CostExceeded when that costs more than is left. */
  evaluate(variables: Readonly<Record<string, unknown>>, budget: Budget): unknown;
};

export type CompileOptions = {
  /** The variables, by name, with their types; `dyn` is anything. */
  readonly variables: Readonly<Record<string, string>>;
  /** What it must come to; `dyn` may. */
  readonly result?: 'bool' | 'string';
  /** Makes further types known that variables may have. */
  readonly declare?: ((environment: Environment) => void) | undefined;
};

const MAX_SOURCE = 16 * 1024;
const meter = new Meter();
const kubernetes = kubernetesEnvironment(meter);

/** The expression, ready; throws CelError when it is not one, or speaks of what there is not. */
export function compileExpression(source: string, { variables, result, declare }: CompileOptions): Compiled {
  if (source.length > MAX_SOURCE) throw new CelError(`an expression of more than ${MAX_SOURCE} characters`);
  const { parsed, names, type } = tried(() => {
    const environment = kubernetes.clone();
    declare?.(environment);
    for (const [name, each] of Object.entries(variables)) environment.registerVariable(name, each);
    const expression = environment.parse(source);
    const nodes = nodesOf(expression.ast);
    for (const node of nodes) useSafeMatches(node);
    const checked = expression.check();
    if (!checked.valid) throw checked.error;
    const all = nodesOf(expression.ast);
    for (const node of all) count(node);
    for (const node of all) endSpentLoop(node);
    return { parsed: expression, names: new Set(nodes.flatMap(nameIn)), type: checked.type };
  });
  if (result && type !== result && type !== 'dyn') throw new CelError(`must evaluate to a ${result}`);
  return {
    uses: (name) => names.has(name),
    evaluate(values, budget) {
      meter.budget = budget;
      let value: unknown;
      try {
        value = parsed(values);
      } catch (error) {
        if (!budget.isSpent) throw new CelError(summaryOf(error), { cause: error });
      }
      // Whatever all(), exists(), || and && made of the failure in them.
      if (budget.isSpent) throw new CostExceeded('operation cancelled: actual cost limit exceeded');
      return value;
    },
  };
}

function tried<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new CelError(summaryOf(error), { cause: error });
  }
}

/** The library's texts go on with a picture of the place. */
function summaryOf(error: unknown): string {
  if (error instanceof RangeError) return `the expression is too deep, or makes too long a text: ${error.message}`;
  const { summary } = (error ?? {}) as { readonly summary?: string };
  const text = summary ?? (error instanceof Error ? error.message : String(error));
  return text
    .replace(/^No such key/, 'no such key')
    .replace(/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')")
    .replaceAll(SAFE_MATCHES, 'matches');
}

/** A node as the library has it, with what its types do not tell. */
type Node = {
  readonly op: string;
  args: unknown;
  evaluate(evaluator: unknown, node: unknown, context: unknown): unknown;
  handle?: (...values: unknown[]) => unknown;
  readonly meta?: { readonly alternate?: unknown; readonly macro?: unknown; readonly evaluate?: Node['evaluate'] };
};

/** Every node of an expression, what macros made of it included. */
function nodesOf(root: unknown): Node[] {
  const found = new Set<Node>();
  const seen = new Set<unknown>();
  const open: unknown[] = [root];
  const openFields = (fields: object) => open.push(...Object.values(fields).filter((each) => isNode(each) || Array.isArray(each)));
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    if (Array.isArray(value)) open.push(...value);
    else if (isNode(value)) {
      found.add(value);
      open.push(value.args, value.meta?.alternate);
      if (isObject(value.meta?.macro)) openFields(value.meta.macro);
    } else if (isObject(value) && 'step' in value) openFields(value); // the parts of a comprehension
  }
  return [...found];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value && 'evaluate' in value;
}

function nameIn({ op, args }: Node): string[] {
  return op === 'id' && typeof args === 'string' ? [args] : [];
}

/** JavaScript's regular expressions can be made to run for ever: the name is replaced before anybody looks it up. */
function useSafeMatches(node: Node): void {
  if (!Array.isArray(node.args)) return;
  const [name, ...rest] = node.args as unknown[];
  if ((node.op === 'rcall' || node.op === 'call') && name === 'matches') node.args = [SAFE_MATCHES, ...rest];
}

/** Each node costs something each time, and what works on long values as much as they are long: before it does, and for what it made. */
function count(node: Node): void {
  const { meta, handle } = node;
  node.evaluate = (evaluator, _, context) => {
    meter.spend();
    if (isNode(meta?.alternate)) return meta.alternate.evaluate(evaluator, meta.alternate, context);
    if (isObject(meta?.macro)) return (meta.macro as unknown as Node).evaluate(evaluator, meta.macro, context);
    return meta?.evaluate?.call(node, evaluator, node, context);
  };
  const cost = handle && costOf(node);
  if (!cost) return;
  node.handle = (...values) => {
    meter.spend(cost(values));
    const made = handle(...values);
    meter.spend(sizeOf(made));
    return made;
  };
}

/** all() and exists() go on after an error, as another item may decide. When all is spent they get the answer that ends them. */
function endSpentLoop({ op, args }: Node): void {
  if (op !== 'comprehension') return;
  const { step, init, errorsAreFatal } = args as { step: Node; init: Node; errorsAreFatal: boolean };
  if (errorsAreFatal) return;
  const { evaluate } = step;
  step.evaluate = (evaluator, _, context) => (meter.budget.isSpent ? !init.args : evaluate(evaluator, step, context));
}

/** Functions that compare what lists contain. */
const DEEP = new Set(['join', 'indexOf', 'lastIndexOf', 'contains', 'equivalent', 'intersects']);
const COMPARING = new Set(['==', '!=', '<', '<=', '>', '>=']);
const TIME_ZONE = 1_000; // to find one takes longer than anything else

function costOf({ op, args }: Node): ((values: readonly unknown[]) => number) | undefined {
  if (op === 'call' || op === 'rcall') {
    const name = String((args as readonly unknown[])[0]);
    return ([given]) => callCost(name, given as readonly unknown[]);
  }
  if (COMPARING.has(op)) return ([a, b]) => (isComposite(a) && isComposite(b) ? Math.min(deepSizeOf(a), deepSizeOf(b)) : 1);
  if (op === 'in')
    return ([a, list]) => (Array.isArray(list) ? (isComposite(a) ? deepSizeOf(list) : list.length * (1 + sizeOf(a) / 100)) : 1);
  return op === '+' ? ([a, b]) => sizeOf(a) + sizeOf(b) : undefined;
}

function callCost(name: string, given: readonly unknown[]): number {
  const [receiver, second] = given;
  if ((name === 'int' || name === 'uint') && typeof receiver === 'string') return receiver.length ** 2 / 1_000;
  if (name.startsWith('get') && receiver instanceof Date && given.length > 1) return TIME_ZONE;
  const sum = given.reduce<number>((total, each) => total + (DEEP.has(name) ? deepSizeOf(each) : sizeOf(each)), 1);
  return name === 'join' && Array.isArray(receiver) ? sum + receiver.length * sizeOf(second ?? '') : sum;
}

function isComposite(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
