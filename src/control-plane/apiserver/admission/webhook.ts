/** A webhook as its configuration describes it. The schema of the built-in kinds has filled in the defaults. */
import type { JsonObject } from '../../../base/json.ts';
import type { LabelSelector } from '../../../base/selectors.ts';

export type WebhookRule = {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  /** Of policies only; none are all. */
  readonly resourceNames?: readonly string[];
  readonly scope?: string;
};

export type ClientConfig = {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number; readonly path?: string };
  /** Base64 of PEM. */
  readonly caBundle?: string;
};

export type WebhookPost = {
  readonly config: ClientConfig;
  readonly body: object;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly maxAnswerBytes?: number;
};

/** Asks a webhook; the answer is JSON. */
export type AskWebhook = (post: WebhookPost) => Promise<unknown>;

export type MatchCondition = { readonly name: string; readonly expression: string };

export type Webhook = {
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  /** All must be true. */
  readonly matchConditions?: readonly MatchCondition[];
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: string;
};

/** The webhooks of a stored configuration, in its own order. */
export function webhooksOf(configuration: JsonObject): readonly Webhook[] {
  const { webhooks } = configuration;
  return Array.isArray(webhooks) ? webhooks : []; // checked by the schema when it was stored
}
