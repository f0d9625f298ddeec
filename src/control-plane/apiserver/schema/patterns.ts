/**
 * Regular expressions of schemas, compiled once for each text: a definition has the same few (a quantity, a name) in hundreds of places. Kept are the
 * last so many, whoever wrote them.
 */
import { RE2JS } from 're2js';

const KEPT = 200;
const compiled = new Map<string, RE2JS>();

export function matchesPattern(pattern: string, text: string): boolean {
  return expressionOf(pattern).matcher(text).find();
}

/** What is wrong with a pattern, undefined when it compiles. */
export function patternProblem(pattern: string): string | undefined {
  try {
    expressionOf(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function expressionOf(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known) return known;
  const expression = RE2JS.compile(pattern);
  const [oldest] = compiled.size < KEPT ? [] : compiled.keys();
  if (oldest !== undefined) compiled.delete(oldest);
  compiled.set(pattern, expression);
  return expression;
}
