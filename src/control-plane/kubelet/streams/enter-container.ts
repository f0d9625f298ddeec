/** Which containers can be entered and attached to, and what an attached client is joined with. */
import { containerIn, type Pod } from '../../../api/core/pod.ts';
import type { Clock } from '../../../base/clock.ts';
import { ApiError } from '../../../base/errors.ts';
import { containerLogPath } from '../log-files.ts';
import type { PodRuntime } from '../pod-runtime.ts';
import { followOutput, unfinishedLine } from './follow-output.ts';
import type { Attached } from './run-attach.ts';
import { sizeFollower } from './terminal-size.ts';

const NOT_ENTERED =
  'is a program of the embedded cluster, which nothing can be run in; `virtctl exec` runs programs in the guest of a machine';
const NOT_ATTACHED =
  'is a program of the embedded cluster, which has no stdin; `virtctl console` reaches the guest of a machine, `kubectl logs -f` shows what the program says';

const LOOK_MS = 20;
const LOOKS = 250;

type Which = { readonly runtime: PodRuntime; readonly pod: Pod; readonly name: string; readonly clock: Clock };

/** Resolves when programs can be started in a container; throws with the reason when they cannot. */
export function untilEnterable(which: Which): Promise<void> {
  return untilNative(which, NOT_ENTERED);
}

/** Resolves when somebody can be attached to a container; throws with the reason when nobody can. */
export function untilAttachable(which: Which): Promise<void> {
  return untilNative(which, NOT_ATTACHED);
}

/** What has been started runs a moment later, when crun has made its namespaces: that long it is waited for. */
async function untilNative({ runtime, pod, name, clock }: Which, why: string): Promise<void> {
  const container = containerIn(pod, name);
  const called = `container ${name} of pod ${pod.metadata.name}`;
  if (container && !runtime.native.isNative(container)) throw new ApiError('BadRequest', `${called} ${why}`);
  for (let look = 0; look < LOOKS && !runtime.native.runs(name) && runtime.container(name)?.run.is === 'running'; look++)
    await clock.sleep(LOOK_MS);
  if (!runtime.native.runs(name)) throw new ApiError('BadRequest', `${called} does not run`);
}

type AttachOptions = Which & { readonly hasStdin: boolean };

/** The container as an attached client sees it. What was printed before the only client of a `stdinOnce` came was meant for it. */
export async function attachTo({ runtime, pod, name, hasStdin, clock }: AttachOptions): Promise<Attached> {
  const container = containerIn(pod, name);
  const record = runtime.container(name);
  if (!container || !record) throw new ApiError('BadRequest', `container ${name} of pod ${pod.metadata.name} does not run`);
  const { restartCount } = record;
  const isOver = () => {
    const now = runtime.container(name);
    return now?.run.is !== 'running' || now.restartCount !== restartCount;
  };
  const isFirst = container.stdinOnce === true && runtime.native.hasOpenStdin(name);
  const log = containerLogPath(runtime.dir, name, restartCount);
  const from = isFirst ? 0 : await unfinishedLine(log); // before it is told anything: what it answers is for this client
  return {
    stdin: hasStdin ? runtime.native.openStdin(container) : undefined,
    output: (signal) => followOutput({ log, from, isOver, clock, signal }),
    resize: container.tty ? sizeFollower({ program: async () => runtime.native.firstProcess(name), isOver }) : () => {},
  };
}
