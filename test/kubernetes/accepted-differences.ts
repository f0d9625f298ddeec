/** Where the answers to recorded requests may differ, and why. First match wins. docs/compatibility.md says the same to users. */
import type { Recorded } from './recording.ts';

type Difference = { readonly only: 'code' | 'not compared'; readonly because: string };

/** By method, path and what the client asked for. */
const DIFFERENCES: readonly [RegExp, Difference][] = [
  [/^GET \/openapi\/v3\/.*hash=/, { only: 'not compared', because: 'the hash is that of our document; the real one redirects to its own' }],
  [/^GET \/(openapi|version|api(s)?(\?|$))/, { only: 'code', because: 'the groups, kinds and words of another program' }],
  [/^GET \/(api\/v1|apis\/[^/]+\/[^/?]+)(\?|$)/, { only: 'code', because: 'no storageVersionHash, fewer kinds' }],
  [/\/subresources\.kubevirt\.io\//, { only: 'code', because: 'nobody serves this group here; the real one says so in plain text' }],
  [/^(POST|GET|DELETE) \/apis\/batch\/v1\/.*jobs/, { only: 'code', because: 'labels and selector have the uid of the Job in them' }],
  [/^(GET|DELETE) .*\/resourcequotas/, { only: 'code', because: 'ours counts; beside the real API server nobody writes the status' }],
  [/\/horizontalpodautoscalers/, { only: 'code', because: 'ours acts; beside the real API server nobody writes the status' }],
  [
    /^(POST|GET|PATCH) .*\/customresourcedefinitions/,
    { only: 'code', because: 'ours is in force with the first answer, conditions and finalizer included' },
  ],
  [/^DELETE .*\/pods\//, { only: 'code', because: 'a Pod that goes at once has no deletion grace period' }],
];

/** Why the answers to this request are not compared whole; undefined when they are. */
export function acceptedDifference({ method, path, type = '' }: Recorded): Difference | undefined {
  const text = `${method} ${path} ${type.includes('strategic') ? 'strategic' : ''}`.trim();
  return DIFFERENCES.find(([pattern]) => pattern.test(text))?.[1];
}
