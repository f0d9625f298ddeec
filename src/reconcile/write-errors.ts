/** Remembers why creates and deletes failed, so that a status can say it: a decision is over before its actions are tried. */
import { LONGEST_LABEL } from '../api/core/short-name.ts';
import { type KubeObject, keyOf, type ObjectMeta } from '../api/meta.ts';
import { isApiError, messageOf, type StatusReason } from '../base/errors.ts';
import type { Client } from '../client/client.ts';

export type WriteErrors = {
  /** Why the last such write for the subject with this key failed; undefined when it did not. */
  get(key: string): string | undefined;
  forget(key: string): void;
};
type At = Pick<ObjectMeta, 'name' | 'namespace'>;

/** What a server keeps of `generateName`, so that the whole fits a label. */
const LONGEST_PREFIX = LONGEST_LABEL - 5;

/** A client that remembers failed writes of one kind under the key of the object that they were for. */
export function rememberWriteErrors(options: {
  readonly client: Client;
  readonly kind: string;
  readonly keyOf?: (object: KubeObject) => string | undefined;
  /** For whom an object was, given only where it is. */
  readonly keyAt?: (at: At) => string | undefined;
}): { client: Client; createErrors: WriteErrors; deleteErrors: WriteErrors } {
  const creates = errorMap('AlreadyExists');
  const deletes = errorMap('NotFound', 'Conflict');
  const subjectOf = options.keyOf ?? ((object: KubeObject) => keyOf(object.metadata));
  const subjectAt = options.keyAt ?? keyOf;
  const client: Client = {
    ...options.client,
    create: (resource, object, rest) => {
      const key = resource.kind === options.kind && !rest?.subresource ? subjectOf(object) : undefined;
      return creates.remember(key, options.client.create(resource, object, rest), object.metadata.generateName);
    },
    delete: (resource, at, rest) => {
      const key = resource.kind === options.kind ? subjectAt(at) : undefined;
      return deletes.remember(key, options.client.delete(resource, at, rest));
    },
  };
  return { client, createErrors: creates, deleteErrors: deletes };
}

/** Reasons that say that our picture was old, not that something is wrong, are no errors. */
function errorMap(...harmless: readonly StatusReason[]) {
  const errors = new Map<string, string>();
  return {
    get: (key: string) => errors.get(key),
    forget: (key: string) => void errors.delete(key),
    async remember<T>(key: string | undefined, writing: Promise<T>, generateName?: string): Promise<T> {
      try {
        const written = await writing;
        if (key !== undefined) errors.delete(key);
        return written;
      } catch (error) {
        if (key !== undefined && !harmless.some((reason) => isApiError(error, reason))) {
          const message = withoutMadeUpName(messageOf(error), generateName);
          if (wordsOf(message) !== wordsOf(errors.get(key) ?? '')) errors.set(key, message);
        }
        throw error;
      }
    },
  };
}

/** A server makes up another name for each try. */
function withoutMadeUpName(message: string, generateName: string | undefined): string {
  if (!generateName) return message;
  const prefix = generateName.slice(0, LONGEST_PREFIX);
  const [first = '', ...rest] = message.split(prefix);
  return [first, ...rest.map((each) => each.replace(/^[a-z0-9]{5}(?![a-z0-9])/, '*'))].join(prefix);
}

/** Without counters, times and addresses: a status that tells each of them anew wakes its controller for the next try, at once. */
function wordsOf(message: string): string {
  return message.replace(/\S*\d\S*/g, '#');
}
