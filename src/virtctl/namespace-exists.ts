/** Nothing in a namespace, and no such namespace, look the same in a list: only one of them is what was meant. */
import { NAMESPACES } from '../api/core/namespace.ts';
import { ApiError, isApiError } from '../base/errors.ts';
import type { Connection } from './deps.ts';

/** Throws NotFound when there is no such namespace; whoever may not look is believed. */
export async function mustExist({ client, namespace }: Pick<Connection, 'client' | 'namespace'>): Promise<void> {
  try {
    if (await client.get(NAMESPACES, { name: namespace })) return;
  } catch (error) {
    if (isApiError(error, 'Forbidden')) return;
    throw error;
  }
  throw new ApiError('NotFound', `there is no namespace "${namespace}"; kubectl create namespace ${namespace} makes it`);
}
