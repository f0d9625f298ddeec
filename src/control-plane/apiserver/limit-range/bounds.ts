/** The bounds of a LimitRange against what something asks for, in the words of Kubernetes. */
import type { LimitRangeItem, Quantities } from '../../../api/core/resource-quota.ts';
import { parseQuantity } from '../../../base/quantity.ts';

/** Without `limits` there is no such thing for this kind: what it asks for is all that it gets. */
type Asked = { readonly requests: Quantities; readonly limits: Quantities | undefined };

/** Every bound that is broken. */
export function brokenBounds(item: LimitRangeItem, asked: Asked): string[] {
  const { type, min = {}, max = {}, maxLimitRequestRatio: ratio = {} } = item;
  return [
    ...Object.entries(min).map(([name, bound]) => below(`minimum ${name} usage per ${type} is ${bound}`, { name, bound, asked })),
    ...Object.entries(max).map(([name, bound]) => above(`maximum ${name} usage per ${type} is ${bound}`, { name, bound, asked })),
    ...Object.entries(ratio).map(([name, bound]) =>
      tooFarApart(`${name} max limit to request ratio per ${type} is ${bound}`, { name, bound, asked }),
    ),
  ].filter((text) => text !== undefined);
}

type Bound = { readonly name: string; readonly bound: string; readonly asked: Asked };

function below(text: string, { name, bound, asked }: Bound): string | undefined {
  const request = asked.requests[name];
  const limit = asked.limits?.[name];
  if (request === undefined) return `${text}.  No request is specified`;
  if (numberOf(request) < numberOf(bound)) return `${text}, but request is ${request}`;
  return limit !== undefined && numberOf(limit) < numberOf(bound) ? `${text}, but limit is ${limit}` : undefined;
}

function above(text: string, { name, bound, asked }: Bound): string | undefined {
  const request = asked.requests[name];
  const limit = asked.limits?.[name];
  if (asked.limits && limit === undefined) return `${text}.  No limit is specified`;
  if (!asked.limits && request === undefined) return `${text}.  No request is specified`;
  if (limit !== undefined && numberOf(limit) > numberOf(bound)) return `${text}, but limit is ${limit}`;
  return request !== undefined && numberOf(request) > numberOf(bound) ? `${text}, but request is ${request}` : undefined;
}

function tooFarApart(text: string, { name, bound, asked }: Bound): string | undefined {
  const request = numberOf(asked.requests[name] ?? '0');
  const limit = numberOf(asked.limits?.[name] ?? '0');
  if (request === 0) return `${text}, but no request is specified or request is 0`;
  if (limit === 0) return `${text}, but no limit is specified or limit is 0`;
  return limit / request > numberOf(bound) ? `${text}, but provided ratio is ${(limit / request).toFixed(6)}` : undefined;
}

function numberOf(quantity: string): number {
  return parseQuantity(quantity) ?? 0;
}
