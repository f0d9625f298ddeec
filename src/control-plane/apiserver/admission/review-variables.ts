/** What expressions about a request may speak of: it as a webhook would see it. */
import { isObject } from '../../../base/json.ts';
import { celValue } from '../cel/values.ts';
import type { AdmissionAttributes } from '../server-parts.ts';
import { reviewOf } from './review.ts';

export function reviewVariables(request: AdmissionAttributes, version: string) {
  const review = reviewOf(request, { uid: '', version })['request'];
  const { object, oldObject, ...attributes } = isObject(review) ? review : {};
  return { object: plainValue(object), oldObject: plainValue(oldObject), request: plainValue(attributes) };
}

/** Without a schema: every field has the name and the type that it has in JSON. */
export function plainValue(value: unknown): unknown {
  return celValue(undefined, value, false);
}
