/** Performs what is decided on a guest besides writes to the API. Nothing is waited for: what comes of it is in the next observation. */
import { keyOf } from '../../api/meta.ts';
import type { DomainAction } from './decide.ts';
import type { Domains } from './domains.ts';
import type { ObservedDomain } from './observed.ts';

/** Does one action. */
export function actOnDomain(action: DomainAction, { vmi }: ObservedDomain, domains: Domains): undefined {
  const key = keyOf(vmi.metadata);
  switch (action.do) {
    case 'follow':
      domains.follow(key, { vmi, podUid: action.podUid });
      return;
    case 'forget':
      domains.forget(key);
      return;
    case 'start grace period':
      domains.startGracePeriod(key);
      return;
    case 'command':
      domains.order(key, action.id, action.command);
      return;
  }
}
