/** One question to a webhook of admission. */
import { randomUUID } from 'node:crypto';
import type { AdmissionAttributes } from '../server-parts.ts';
import { postToWebhook, type WebhookCallOptions, WebhookUnreachable } from './post-to-webhook.ts';
import { reviewOf, type Verdict, verdictOf } from './review.ts';
import type { Webhook } from './webhook.ts';

const DEFAULT_TIMEOUT_SECONDS = 10;

/** The webhook's verdict. A denial is an ApiError; every other error means that it could not be asked. */
export async function callWebhook(
  webhook: Webhook,
  { request, version }: { request: AdmissionAttributes; version: string },
  options: WebhookCallOptions,
): Promise<Verdict> {
  const uid = randomUUID();
  const body = reviewOf(request, { uid, version });
  const { clientConfig: config, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = webhook;
  const answer = await postToWebhook({ config, body, timeoutSeconds, signal: request.signal }, options).catch((error) => {
    if (!(error instanceof WebhookUnreachable)) throw error;
    throw new Error(`failed to call webhook: ${error.message}`, { cause: error.cause });
  });
  return verdictOf(answer, { uid, webhook: webhook.name });
}
