/** Remembers why creates failed, so that a status can say it: a decision is over before its actions are tried. */
import { type KubeObject, keyOf } from '../api/meta.ts';
import { isApiError, messageOf } from '../base/errors.ts';
import type { Client } from '../client/client.ts';

export type CreateErrors = {
  /** Why the last create for the subject with this key failed; undefined when it did not. */
  get(key: string): string | undefined;
  forget(key: string): void;
};

/** A client that remembers failed creates of one kind under the key of the object that they were for. */
export function rememberCreateErrors(options: {
  readonly client: Client;
  readonly kind: string;
  readonly keyOf?: (object: KubeObject) => string | undefined;
}): { client: Client; createErrors: CreateErrors } {
  const errors = new Map<string, string>();
  const subjectOf = options.keyOf ?? ((object: KubeObject) => keyOf(object.metadata));
  const client: Client = {
    ...options.client,
    async create(resource, object, rest) {
      const key = resource.kind === options.kind && !rest?.subresource ? subjectOf(object) : undefined;
      try {
        const created = await options.client.create(resource, object, rest);
        if (key !== undefined) errors.delete(key);
        return created;
      } catch (error) {
        // AlreadyExists says that our picture was old, not that something is wrong.
        if (key !== undefined && !isApiError(error, 'AlreadyExists')) errors.set(key, messageOf(error));
        throw error;
      }
    },
  };
  return { client, createErrors: { get: (key) => errors.get(key), forget: (key) => void errors.delete(key) } };
}
