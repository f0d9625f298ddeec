/**
 * Priority and fairness in small: how many requests, watches and streams of one user, and of all ordinary users, may be under way at once.
 * Who carries the cluster (nodes, our own components, administrators) is not counted, so no client can take their share.
 *
 *   one user                                    at most a fifth
 *   the service accounts of one namespace       at most a fifth, together: whoever may make one can make a hundred
 *   the service accounts of all namespaces      at most three fifths: the rest is for users, whom only administrators can make
 *
 *   stream    whatever lasts as long as its user wants: console, screen, exec, attach, port-forward, a log, an exported disk, whatever a Service answers
 *   watch     a watch, of another server behind this one, too
 *   request   everything else, until its answer was taken
 */
import { ApiError } from '../../../base/errors.ts';
import type { Attributes } from '../access/policy-rule.ts';
import type { Identity } from '../transport/identity.ts';

export type Flow = 'request' | 'watch' | 'stream';
/** Says that it is over; may be said more than once. */
export type Leave = () => void;

type Limits = Readonly<Record<Flow, { readonly ofOne: number; readonly ofAccounts: number; readonly ofAll: number }>>;

/** A busy controller has some dozens of each; a page that shows everything, a hundred watches. A console is half a dozen connections behind this one. */
const LIMITS: Limits = {
  request: { ofOne: 100, ofAccounts: 300, ofAll: 500 },
  watch: { ofOne: 300, ofAccounts: 1_200, ofAll: 2_000 },
  stream: { ofOne: 100, ofAccounts: 300, ofAll: 500 },
};
const WORDS: Readonly<Record<Flow, string>> = { request: 'requests', watch: 'watches', stream: 'streams' };
const LASTING: readonly string[] = ['log', 'proxy', 'volumes'];
const RETRY_AFTER_SECONDS = 1;
const EXEMPT_GROUPS: readonly string[] = ['system:masters', 'system:nodes'];
const EXEMPT_ACCOUNTS = /^system:serviceaccount:(?:kubevirt|kube-system):/;
const ACCOUNT = /^system:serviceaccount:([^:]+):/;
/** Counts what all service accounts have together. */
const ALL_ACCOUNTS = '';

export class FlowControl {
  readonly #limits: Limits;
  readonly #underWay = { request: new Map<string, number>(), watch: new Map<string, number>(), stream: new Map<string, number>() };
  readonly #inAll = { request: 0, watch: 0, stream: 0 };

  constructor(limits: Limits = LIMITS) {
    this.#limits = limits;
  }

  /** Counts one more until the returned function is called; undefined for who is not counted, TooManyRequests when there are enough. */
  enter(identity: Identity, flow: Flow): Leave | undefined {
    if (isExempt(identity)) return undefined;
    const { ofOne, ofAccounts, ofAll } = this.#limits[flow];
    const counts = this.#underWay[flow];
    const { key, who, isAccount } = shareOf(identity);
    if ((counts.get(key) ?? 0) >= ofOne) throw tooMany(flow, `${who} ${ofOne} under way`);
    if (isAccount && (counts.get(ALL_ACCOUNTS) ?? 0) >= ofAccounts)
      throw tooMany(flow, `all service accounts have ${ofAccounts} under way`);
    if (this.#inAll[flow] >= ofAll) throw tooMany(flow, `all users have ${ofAll} under way`);
    const counted = isAccount ? [key, ALL_ACCOUNTS] : [key];
    for (const each of counted) counts.set(each, (counts.get(each) ?? 0) + 1);
    this.#inAll[flow] += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#inAll[flow] -= 1;
      for (const each of counted) {
        const left = (counts.get(each) ?? 1) - 1;
        if (left === 0) counts.delete(each);
        else counts.set(each, left);
      }
    };
  }
}

/** As what a request over HTTP is counted; a connection that leaves HTTP is always a stream. */
export function flowOf(attributes: Attributes): Flow {
  if (attributes.type === 'path') return 'request';
  if (attributes.verb === 'watch') return 'watch';
  return LASTING.includes(attributes.subresource ?? '') ? 'stream' : 'request';
}

function isExempt({ user, groups }: Identity): boolean {
  return groups.some((group) => EXEMPT_GROUPS.includes(group)) || EXEMPT_ACCOUNTS.test(user);
}

type Share = { readonly key: string; readonly who: string; readonly isAccount: boolean };

function shareOf({ user }: Identity): Share {
  const [, namespace] = ACCOUNT.exec(user) ?? [];
  if (namespace === undefined) return { key: `user ${user}`, who: `user ${JSON.stringify(user)} has`, isAccount: false };
  return { key: `accounts ${namespace}`, who: `the service accounts of namespace ${JSON.stringify(namespace)} have`, isAccount: true };
}

function tooMany(flow: Flow, why: string): ApiError {
  const message = `too many ${WORDS[flow]}, please try again later: ${why}`;
  return new ApiError('TooManyRequests', message, { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } });
}
