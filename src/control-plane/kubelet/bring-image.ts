/**
 * Sees to it that an image is in the store before it is used:
 *
 *   the name                                  pull policy       what happens
 *   is none                                   any               InvalidImageName
 *   was given here (import, tag)              any               what is here is used: no registry is asked
 *   localhost/…                               any               it is here or it is missing
 *   is here, pulled before                    Always            pulled again when the registry has another one
 *   is here, pulled before                    others            what is here is used
 *   is not here                               Never             ErrImageNeverPull
 *   is not here                               others            pulled
 */
import type { Pod } from '../../api/core/pod.ts';
import { SECRETS } from '../../api/core/secret.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { isImageReference, isLocalOnly, parseReference } from '../../base/image-reference.ts';
import { loginsInSecrets, type PullSecret } from '../../images/pull-secrets.ts';
import type { KubeletContext } from './kubelet-context.ts';

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** An image that could not be had: worth another kind of waiting than a missing ConfigMap. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
  readonly image: string;
  /** What the container waits for, when it is not a pull. */
  readonly reason: 'InvalidImageName' | 'ErrImageNeverPull' | undefined;

  constructor(image: string, message: string, options: { readonly cause?: unknown; readonly reason?: ImageError['reason'] } = {}) {
    super(message, { cause: options.cause });
    this.image = image;
    this.reason = options.reason;
  }
}

/** True when it was here already. */
export type BringImage = (reference: string, policy: PullPolicy | undefined) => Promise<boolean>;
type Options = { readonly pod: Pod; readonly context: KubeletContext; readonly signal: AbortSignal };

/** Throws ImageError. A store without a puller has what it has. */
export function imageBringer({ pod, context, signal }: Options): BringImage {
  const { images, puller, events } = context;
  const pull = async (reference: string): Promise<void> => {
    if (!puller) return;
    events.record(pod, { type: 'Normal', reason: 'Pulling', message: `Pulling image "${reference}"` });
    const startedAt = context.clock.steady();
    const { sizeBytes } = await puller.pull({ reference, signal, findLogins: await loginsOf(pod, context) });
    const took = `${((context.clock.steady() - startedAt) / 1000).toFixed(3)}s`;
    const message = `Successfully pulled image "${reference}" in ${took} (${took} including waiting). Image size: ${sizeBytes} bytes.`;
    events.record(pod, { type: 'Normal', reason: 'Pulled', message });
  };
  return async (reference, policy = defaultPolicy(reference)) => {
    if (!isImageReference(reference))
      throw new ImageError(
        reference,
        `Failed to apply default image tag "${reference}": couldn't parse image name: invalid reference format`,
        {
          reason: 'InvalidImageName',
        },
      );
    const here = images.resolve(reference);
    try {
      if (!here && policy === 'Never') throw neverPulled(reference);
      const isWanted = here ? here.isPulled === true && policy === 'Always' : !isLocalOnly(reference);
      const isMissing = isWanted && !(here && (await isCurrent(here.digest, reference)));
      if (isMissing) await pull(reference);
      const digest = images.resolve(reference)?.digest;
      if (digest) puller?.touch(digest);
      return !isMissing && digest !== undefined;
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ImageError ? error : new ImageError(reference, wordsOf(error), { cause: error });
    }
  };

  async function isCurrent(digest: string, reference: string): Promise<boolean> {
    if (!puller || parseReference(reference).digest !== undefined) return true; // a digest stands for one thing for ever
    return (await puller.resolve({ reference, signal, findLogins: await loginsOf(pod, context) })) === digest;
  }
}

/** As any Kubernetes fills it in: what may change under its name is asked for again. */
function defaultPolicy(reference: string): PullPolicy {
  if (!isImageReference(reference)) return 'IfNotPresent';
  const { tag, digest } = parseReference(reference);
  return digest === undefined && tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Of the Secrets that the Pod names; one that is not there is passed over, as upstream does. */
async function loginsOf({ metadata: { namespace }, spec }: Pod, { client }: KubeletContext) {
  const secrets: PullSecret[] = [];
  for (const { name } of spec.imagePullSecrets ?? []) {
    const found = name ? await client.get(SECRETS, { namespace, name }).catch(() => undefined) : undefined;
    if (found) secrets.push(found);
  }
  return (address: string, repository: string) => loginsInSecrets(secrets, address, repository);
}

function neverPulled(image: string): ImageError {
  return new ImageError(image, `Container image "${image}" is not present with pull policy of Never`, { reason: 'ErrImageNeverPull' });
}

/** One line: what, why and what can be done. */
function wordsOf(error: unknown): string {
  if (!(error instanceof UserError)) return messageOf(error);
  return [error.message, ...(error.why ? [`: ${error.why}`] : []), ...(error.fix ? [`; fix: ${error.fix}`] : [])].join('');
}
