/**
 * Admission by webhook: mutating ones take turns, each sees what those before it made of the object; then policies are held against it,
 * and validating webhooks are asked at once.
 *
 *   a webhook says no                     its answer, with its name in front
 *   cannot be asked, failurePolicy Fail    500, or what the way to it answered; Ignore: as if it were not there
 *   dry run, and it may have side effects  400
 *   reinvocationPolicy IfNeeded            asked once more when a later one changed the object
 */
import { ApiError, messageOf } from '../../../base/errors.ts';
import { deepEqual } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import { keepAliveAgent } from '../../../base/node/https-fetch.ts';
import type { Store } from '../../store/store.ts';
import type { ResolveService } from '../aggregation/service-proxy.ts';
import { assertPolicies } from '../policy/assert-policies.ts';
import { PoliciesInForce } from '../policy/policies-in-force.ts';
import type { Admission, AdmissionAttributes } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';
import { callWebhook } from './call-webhook.ts';
import { isExempt, WebhookConfigurations } from './configurations.ts';
import { matchedVersion, type Surroundings } from './match.ts';
import { wantsToBeAsked } from './match-conditions.ts';
import type { WebhookCallOptions } from './post-to-webhook.ts';
import { patched, type Verdict } from './review.ts';
import type { Webhook } from './webhook.ts';

export type AdmissionOptions = {
  readonly store: Store;
  readonly resolveService: ResolveService;
  /** Users whose writes no webhook sees: the server itself, which must be able to start whatever is configured. */
  readonly exemptUsers: readonly string[];
  readonly log: Logger;
};

type Matched = { readonly webhook: Webhook; readonly version: string };

const CRDS = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };
const NAMESPACES = { group: '', plural: 'namespaces' };
const WITHOUT_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];

/** Admission as the webhook configurations in the store have it, from the moment they are stored. */
export function createAdmission(options: AdmissionOptions): Admission & { close(): void } {
  const { store, exemptUsers } = options;
  const mutating = new WebhookConfigurations(store, 'mutatingwebhookconfigurations');
  const validating = new WebhookConfigurations(store, 'validatingwebhookconfigurations');
  const policies = new PoliciesInForce(store);
  const agent = keepAliveAgent();
  const asking: Asking = { ...options, agent, authorities: new WeakMap() };

  function isFree({ type, identity }: AdmissionAttributes): boolean {
    return isExempt(type.group) || exemptUsers.includes(identity.user);
  }

  function concerned(webhooks: readonly Webhook[], request: AdmissionAttributes): readonly Matched[] {
    if (webhooks.length === 0 || isFree(request)) return [];
    const around = surroundings(store, request);
    return webhooks.flatMap((webhook) => {
      const version = matchedVersion(webhook, request, around);
      return version === undefined ? [] : [{ webhook, version }];
    });
  }

  return {
    async mutate(request) {
      const first = await mutateInTurn(request, concerned(mutating.webhooks, request), asking);
      const stale = first.calls.filter(({ matched, left }) => isReinvoked(matched) && !deepEqual(left, first.object));
      const again = await mutateInTurn(
        { ...request, object: first.object },
        stale.map(({ matched }) => matched),
        asking,
      );
      return { object: again.object, warnings: [...first.warnings, ...again.warnings] };
    },
    async validate(request) {
      const isHeld = policies.all.length > 0 && !isFree(request);
      const ofPolicies = isHeld ? assertPolicies(request, surroundings(store, request), { ...options, policies }) : [];
      const deleting = request.operation === 'DELETE' ? concerned(mutating.webhooks, request) : []; // they may object, too
      const all = [...deleting, ...concerned(validating.webhooks, request)];
      const verdicts = await Promise.all(all.map((matched) => ask(matched, request, asking)));
      return { warnings: [...ofPolicies, ...verdicts.flatMap((verdict) => verdict?.warnings ?? [])] };
    },
    close() {
      mutating.close();
      validating.close();
      policies.close();
      agent.destroy();
    },
  };
}

/** What the rules of a webhook are held against besides the request. */
function surroundings(store: Store, { type, namespace }: AdmissionAttributes): Surroundings {
  const place = namespace === undefined ? undefined : store.get(storeKey(NAMESPACES, undefined, namespace));
  const { labels } = (place?.value as AnyObject | undefined)?.metadata ?? {};
  const crd = type.isBuiltIn ? undefined : store.get(storeKey(CRDS, undefined, `${type.plural}.${type.group}`));
  const spec = crd?.value['spec'] as { versions: readonly { name: string; served: boolean }[] } | undefined; // the type was made from it
  return { namespaceLabels: labels, versions: spec?.versions.filter(({ served }) => served).map(({ name }) => name) ?? [type.version] };
}

function isReinvoked({ webhook }: Matched): boolean {
  return webhook.reinvocationPolicy === 'IfNeeded';
}

type Asking = AdmissionOptions & WebhookCallOptions;
/** `left` is the object as this webhook left it. */
type Turn = { readonly matched: Matched; readonly left: AnyObject };

async function mutateInTurn(request: AdmissionAttributes & { object: AnyObject }, webhooks: readonly Matched[], asking: Asking) {
  const calls: Turn[] = [];
  const warnings: string[] = [];
  let { object } = request;
  for (const matched of webhooks) {
    const now = { ...request, object };
    const verdict = await ask(matched, now, asking);
    warnings.push(...(verdict?.warnings ?? []));
    if (verdict?.patch !== undefined) object = applied(matched, now, verdict.patch);
    calls.push({ matched, left: object });
  }
  return { object, calls, warnings };
}

/** A patch that cannot be applied is the webhook's fault, never the client's. */
function applied({ webhook, version }: Matched, request: AdmissionAttributes & { object: AnyObject }, patch: unknown): AnyObject {
  try {
    return patched(request, version, patch);
  } catch (error) {
    throw failed(webhook, error);
  }
}

/** The verdict; undefined when the webhook does not want to be asked, or could not be and does not insist. */
async function ask({ webhook, version }: Matched, request: AdmissionAttributes, asking: Asking): Promise<Verdict | undefined> {
  if (!wantsToBeAsked(webhook, request, version)) return undefined;
  if (request.isDryRun && !WITHOUT_SIDE_EFFECTS.includes(webhook.sideEffects ?? ''))
    throw new ApiError('BadRequest', `admission webhook "${webhook.name}" does not support dry run`);
  try {
    return await callWebhook(webhook, { request, version }, asking);
  } catch (error) {
    if (error instanceof ApiError || request.signal.aborted) throw error;
    asking.log.warn('a webhook cannot be asked', { webhook: webhook.name, policy: webhook.failurePolicy, because: messageOf(error) });
    if (webhook.failurePolicy === 'Ignore') return undefined;
    throw failed(webhook, error);
  }
}

/** Whoever knows the way to a webhook may have an answer of its own: that it is about to be there is no failure. */
function failed({ name }: Webhook, error: unknown): ApiError {
  if (error instanceof Error && error.cause instanceof ApiError) return error.cause;
  return new ApiError('InternalError', `Internal error occurred: failed calling webhook "${name}": ${messageOf(error)}`, { cause: error });
}
