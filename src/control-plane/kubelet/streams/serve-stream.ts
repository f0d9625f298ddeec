/** Which stream of a Pod is asked for, and who serves it. */
import { containerNameOf } from '../../../api/core/container-name.ts';
import type { Pod } from '../../../api/core/pod.ts';
import type { Clock } from '../../../base/clock.ts';
import { ApiError } from '../../../base/errors.ts';
import { statusResponse } from '../../../base/status-object.ts';
import type { PodRuntime } from '../pod-runtime.ts';
import { acceptChannels, acceptSpdyBytes, agreeOn, CHANNELS, PORT_FORWARD, type StreamUpgrade } from './accept-upgrade.ts';
import { attachTo, untilAttachable, untilEnterable } from './enter-container.ts';
import { forwardPorts } from './port-forward.ts';
import { runAttach } from './run-attach.ts';
import { runExec } from './run-exec.ts';
import { wantedStreams } from './wanted-streams.ts';

export type AskedStream = { readonly subresource: string; readonly query: URLSearchParams };

type Options = {
  readonly pod: Pod;
  /** Undefined when the node does not run the Pod. */
  readonly runtime: PodRuntime | undefined;
  readonly asked: AskedStream;
  readonly upgrade: StreamUpgrade;
  readonly clock: Clock;
};

/** Resolves when the stream is over. */
export async function serveStream(options: Options): Promise<void> {
  const { subresource } = options.asked;
  switch (subresource) {
    case 'exec':
      return serveExec(options);
    case 'attach':
      return serveAttach(options);
    case 'portforward':
      return servePortForward(options);
    default:
      throw new ApiError('BadRequest', `${subresource} is not served by the embedded cluster`);
  }
}

async function serveExec({ pod, runtime, asked: { query }, upgrade, clock }: Options): Promise<void> {
  const name = containerNameOf(pod, query.get('container') || undefined);
  const command = query.getAll('command');
  const wanted = wantedStreams(query);
  if (command.length === 0) throw new ApiError('BadRequest', 'you must specify at least 1 command for the container');
  if (!runtime) throw new ApiError('BadRequest', `pod ${pod.metadata.name} does not run`);
  await untilEnterable({ runtime, pod, name, clock });
  const streams = await acceptChannels(upgrade, agreeOn(upgrade, CHANNELS), { wanted, clock });
  if (streams.gone.aborted) return;
  try {
    await runExec(runtime.native.exec(name, { command, hasTerminal: wanted.tty }), streams);
  } catch (error) {
    await streams.finish(await statusResponse(error).json()); // HTTP is over: this is how the client is told
  }
}

async function serveAttach({ pod, runtime, asked: { query }, upgrade, clock }: Options): Promise<void> {
  const name = containerNameOf(pod, query.get('container') || undefined);
  const wanted = wantedStreams(query);
  if (!runtime) throw new ApiError('BadRequest', `pod ${pod.metadata.name} does not run`);
  await untilAttachable({ runtime, pod, name, clock });
  const agreed = agreeOn(upgrade, CHANNELS);
  const attached = await attachTo({ runtime, pod, name, hasStdin: wanted.stdin, clock });
  try {
    await runAttach(attached, await acceptChannels(upgrade, agreed, { wanted, clock }));
  } finally {
    attached.stdin?.destroy();
  }
}

/** Of any Pod that has an address, a launcher's included: there its guest answers. */
async function servePortForward({ pod, runtime, upgrade, clock }: Options): Promise<void> {
  const { name } = pod.metadata;
  const phase = pod.status?.phase ?? 'Pending';
  if (phase !== 'Running' || !runtime) throw new ApiError('BadRequest', `pod ${name} does not run: it is ${phase}`);
  const podIP = runtime.podIP(pod); // not what the status says, which others may write
  await forwardPorts({ wire: await acceptSpdyBytes(upgrade, agreeOn(upgrade, PORT_FORWARD), clock), podIP, name, clock });
}
