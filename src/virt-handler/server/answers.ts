/** The answers of this node: one function for each route of the table. What takes more than a line is in a file of its own. */
import type { EndedRun } from '../../api/handler/answers.ts';
import type { RouteParameters } from '../../api/handler/route-path.ts';
import { USUAL_HISTORY_SECONDS } from '../../api/handler/usage-history.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { execInGuest } from '../agent/exec-in-guest.ts';
import { freezeGuest } from '../agent/freeze-guest.ts';
import { fileSystemListOf, guestInfoOf, userListOf } from '../agent/guest-info.ts';
import { softReboot } from '../agent/soft-reboot.ts';
import type { RunLogs } from '../console/run-logs.ts';
import { type Screens, wishOf } from '../console/screen.ts';
import { takeScreenshot } from '../console/screenshot.ts';
import type { UsageHistories } from '../metrics/usage-histories.ts';
import { actHindranceOf } from '../migration/act-hindrance.ts';
import { takeGuest, takePrinted } from '../migration/take-guest.ts';
import type { GuestNetwork } from '../network/controller.ts';
import { connectPort } from '../network/serve-port.ts';
import { stateFrom } from '../vmi/domain.ts';
import type { Domains, Guest } from '../vmi/domains.ts';
import type { GuestAction } from '../vmi/guest-action.ts';
import { readUsage } from '../vmi/usage.ts';
import type { HandlerAnswers } from './handler-answers.ts';

export type AnswerSources = {
  readonly domains: Domains;
  /** An instance of this node as it was last read; undefined when it is none of them. */
  readonly instanceOf: (key: string) => VirtualMachineInstance | undefined;
  readonly screens: Screens;
  readonly network: Pick<GuestNetwork, 'reach'>;
  /** Of runs that are over; none are known when not given. */
  readonly runLogs: RunLogs | undefined;
  /** What guests used lately. */
  readonly histories: Pick<UsageHistories, 'of'>;
  /** Where the `/proc` of the node is mounted, when that is not ours. */
  readonly nodeProcesses: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

type OfGuest<Question> = { readonly parameters: Pick<RouteParameters, 'namespace' | 'name'>; readonly question: Question };

/** What the server of this node answers with. */
export function answersFrom({
  domains,
  instanceOf,
  screens,
  network,
  runLogs,
  histories,
  nodeProcesses,
  clock,
  log,
}: AnswerSources): HandlerAnswers {
  /** Answers about a guest that is here; NotFound for any other. */
  const ofGuest =
    <Question, Answer>(answer: (guest: Guest, question: Question) => Answer | Promise<Answer>) =>
    async ({ parameters: { namespace, name }, question }: OfGuest<Question>): Promise<Answer> =>
      answer(domains.guest(keyOf({ namespace, name })), question);

  /** QEMU is asked at the moment: what was heard of it may be older than what somebody has been told. */
  const requireStays = async ({ key, session }: Guest, what: string): Promise<void> => {
    const state = stateFrom(await session.execute('query-status', {}));
    const why = actHindranceOf({ vmi: instanceOf(key), domain: { ...session.domain, state } });
    if (why !== undefined) throw new ApiError('Conflict', `Cannot ${what} the guest ${key}: ${why}`);
  };
  const act = (action: GuestAction) =>
    ofGuest(async (guest) => {
      await requireStays(guest, action);
      await guest.session.act(action);
    });

  return {
    pause: act('pause'),
    unpause: act('unpause'),
    reset: act('reset'),
    softreboot: ofGuest(async (guest) => {
      await requireStays(guest, 'reboot');
      await softReboot(guest, log);
    }),
    usagehistory: ofGuest(async (guest, { seconds = USUAL_HISTORY_SECONDS }) => ({
      ...(await histories.of(guest, seconds)),
      start: guest.console.start,
    })),
    usage: ofGuest(({ podUid, podFolder }) => readUsage({ podUid, podFolder, nodeProcesses }, clock.now())),

    guestosinfo: ofGuest(({ agent }) => guestInfoOf(agent)),
    userlist: ofGuest(({ agent }) => userListOf(agent)),
    filesystemlist: ofGuest(({ agent }) => fileSystemListOf(agent)),
    freeze: ofGuest(({ agent }, question) => freezeGuest(agent, question)),
    unfreeze: ofGuest(({ agent }) => agent.thaw()),
    exec: ofGuest(({ agent }, question) => execInGuest(agent, question, clock)),

    console: ofGuest((guest, question) => guest.console.connect(question)),
    vnc: ofGuest(({ key, folder, session }, question) => {
      const hasMoved = () => session.domain.state === 'moved';
      return orExplain(`connect to the screen of the guest ${key}`, screens.connect({ key, folder, wish: wishOf(question), hasMoved }));
    }),
    'vnc/screenshot': ofGuest(({ folder, session }, { moveCursor = false }) =>
      takeScreenshot({ folder, movesCursor: moveCursor, execute: (command, args) => session.execute(command, args) }),
    ),
    portforward: async ({ parameters: { namespace, name, ...port } }) => {
      const key = keyOf({ namespace, name });
      const connected = network.reach(key, port).then((reached) => connectPort({ ...reached, protocol: port.protocol }));
      return orExplain(`connect to port ${port.port} of the guest ${key}`, connected);
    },

    migration: async ({ parameters: { namespace, name, uid }, question }) =>
      orExplain(`take the guest ${keyOf({ namespace, name })}`, takeGuest(domains.guest(keyOf({ namespace, name })), { uid, ...question })),

    'migration/printed': async ({ parameters: { namespace, name, uid } }) => takePrinted(domains.guest(keyOf({ namespace, name })), uid),

    lastRun: async ({ parameters: { uid } }): Promise<EndedRun> => {
      const run = await runLogs?.last(uid);
      if (!run) throw new ApiError('NotFound', 'no run that is over is known here');
      return { endedAtMs: run.endedAtMs, printed: run.printed.toString('base64') };
    },
  };
}

async function orExplain<Result>(what: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const reason = error instanceof ApiError ? error.reason : 'InternalError';
    throw new ApiError(reason, `Cannot ${what}: ${messageOf(error)}`, { cause: error });
  }
}
