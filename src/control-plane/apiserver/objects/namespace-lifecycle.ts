/** New objects need a namespace that exists and is not on its way out. */
import { forbidden, notFound } from '../response/api-errors.ts';
import type { Call } from '../server-parts.ts';
import { storeKey } from '../types/resource-type.ts';

const NAMESPACES = { group: '', plural: 'namespaces' };

/** Throws NotFound or Forbidden when the namespace of a request takes no new objects. */
export function assertNamespaceActive({ parts, type, path }: Call, name: string): void {
  if (!type.isNamespaced || path.namespace === undefined) return;
  const namespace = parts.store.get(storeKey(NAMESPACES, undefined, path.namespace));
  if (!namespace) throw notFound(NAMESPACES, path.namespace);
  const { metadata } = namespace.value as { metadata: { deletionTimestamp?: string } }; // every stored object has metadata
  if (metadata.deletionTimestamp === undefined) return;
  const message = `namespace ${path.namespace} is being terminated`;
  throw forbidden(type, name, `unable to create new content in namespace ${path.namespace} because it is being terminated`, [
    { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' },
  ]);
}
