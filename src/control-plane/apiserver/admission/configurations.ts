/**
 * The webhooks in force, kept beside the store: a change is known before its writer gets the answer. Configurations take turns by
 * name, webhooks inside one by their order.
 */
import type { Store } from '../../store/store.ts';
import { type Webhook, webhooksOf } from './webhook.ts';

const GROUP = 'admissionregistration.k8s.io';

export class WebhookConfigurations {
  #webhooks: readonly Webhook[] = [];
  readonly #stop: () => void;

  constructor(store: Store, plural: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations') {
    const prefix = `${GROUP}/${plural}/`;
    const read = () => {
      this.#webhooks = store.list(prefix).flatMap(({ value }) => webhooksOf(value)); // the store lists in the order of names
    };
    read();
    this.#stop = store.watch(prefix, store.revision, read);
  }

  get webhooks(): readonly Webhook[] {
    return this.#webhooks;
  }

  close(): void {
    this.#stop();
  }
}

/** What decides over admission is not itself subject to it: a broken webhook could never be removed otherwise. */
export function isExempt(group: string): boolean {
  return group === GROUP;
}
