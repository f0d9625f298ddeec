/** GET of metrics.k8s.io: objects that nobody has stored, measured when somebody asks. */
import { selectionOf } from '../request/selection.ts';
import { notFound } from '../response/api-errors.ts';
import { respondObject, respondObjects } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';

export async function getMetrics(call: Call): Promise<Response> {
  const { name = '', namespace } = call.path;
  const found = (await measured(call)).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (!found) throw notFound(call.type, name);
  return respondObject(call, found);
}

export async function listMetrics(call: Call): Promise<Response> {
  const { namespace } = call.path;
  const { matches } = selectionOf(call.type, call.query);
  const inNamespace = (await measured(call)).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  return respondObjects(call, inNamespace.filter(matches), { resourceVersion: '' });
}

async function measured({ parts, type }: Call): Promise<readonly AnyObject[]> {
  const { nodes = [], pods = [] } = (await parts.hooks.metrics?.()) ?? {};
  return type.isNamespaced ? pods : nodes;
}
