/**
 * The door of virt-handler, once: virt-api makes its calls from this table, virt-handler its server. A new question is one line here and one
 * function in virt-handler (server/answers.ts); with `subresource`, virt-api serves it to people under the same name, and the rule of
 * vm-can.ts for it is, unless it says otherwise, that the instance runs.
 */
import type { EndedRun, ExecResult, GuestAgentInfo, GuestFileSystemList, GuestUserList, Usage } from './answers.ts';
import {
  readConsoleQuestion,
  readExecQuestion,
  readFreezeQuestion,
  readMigrationQuestion,
  readScreenQuestion,
  readScreenshotQuestion,
  readUsageHistoryQuestion,
} from './questions.ts';

import {
  type AnswerForm,
  type HandlerRoute,
  json,
  nothing,
  png,
  type QuestionReader,
  type RequestRoute,
  type StreamRoute,
} from './route.ts';
import type { ParametersIn } from './route-path.ts';
import type { UsageHistory } from './usage-history.ts';

/** The port of its Pod where virt-handler listens; named for the first thing that was to be had there. */
export const HANDLER_PORT_NAME = 'console';

const GUEST = '/v1/namespaces/:namespace/virtualmachineinstances/:name';
/** The agent in a guest may be slow, and virt-handler gives up on it after less. */
const AGENT_MS = 90_000;
const EXEC_MS = 630_000;
const SCREENSHOT_MS = 30_000;

export const HANDLER_ROUTES = {
  pause: { method: 'PUT', path: `${GUEST}/pause`, answer: nothing, subresource: { role: 'edit' } },
  unpause: { method: 'PUT', path: `${GUEST}/unpause`, answer: nothing, subresource: { role: 'edit' } },
  reset: { method: 'PUT', path: `${GUEST}/reset`, answer: nothing, subresource: { role: 'edit' } },
  softreboot: { method: 'PUT', path: `${GUEST}/softreboot`, answer: nothing, subresource: { role: 'edit' } },
  usage: { method: 'GET', path: `${GUEST}/usage`, answer: json<Usage>(), subresource: { role: 'view', verb: 'measure' } },
  /** Of the last hours; not in KubeVirt. */
  usagehistory: {
    method: 'GET',
    path: `${GUEST}/usagehistory`,
    question: readUsageHistoryQuestion,
    answer: json<UsageHistory>(),
    subresource: { role: 'view', verb: 'measure' },
  },

  guestosinfo: {
    method: 'GET',
    path: `${GUEST}/guestosinfo`,
    answer: json<GuestAgentInfo>(),
    timeoutMs: AGENT_MS,
    subresource: { role: 'view' },
  },
  userlist: { method: 'GET', path: `${GUEST}/userlist`, answer: json<GuestUserList>(), timeoutMs: AGENT_MS, subresource: { role: 'view' } },
  filesystemlist: {
    method: 'GET',
    path: `${GUEST}/filesystemlist`,
    answer: json<GuestFileSystemList>(),
    timeoutMs: AGENT_MS,
    subresource: { role: 'view' },
  },
  freeze: {
    method: 'PUT',
    path: `${GUEST}/freeze`,
    question: readFreezeQuestion,
    answer: nothing,
    timeoutMs: AGENT_MS,
    subresource: { role: 'edit' },
  },
  unfreeze: { method: 'PUT', path: `${GUEST}/unfreeze`, answer: nothing, timeoutMs: AGENT_MS, subresource: { role: 'edit' } },
  exec: {
    method: 'PUT',
    path: `${GUEST}/exec`,
    question: readExecQuestion,
    answer: json<ExecResult>(),
    timeoutMs: EXEC_MS,
    subresource: { role: 'edit' },
  },

  console: {
    stream: 'websocket',
    path: `${GUEST}/console`,
    question: readConsoleQuestion,
    subresource: { role: 'edit', verb: 'open the console of' },
  },
  vnc: {
    stream: 'websocket',
    path: `${GUEST}/vnc`,
    question: readScreenQuestion,
    subresource: { role: 'edit', verb: 'open the screen of' },
  },
  'vnc/screenshot': {
    method: 'GET',
    path: `${GUEST}/vnc/screenshot`,
    question: readScreenshotQuestion,
    answer: png,
    timeoutMs: SCREENSHOT_MS,
    subresource: { role: 'admin', verb: 'take a screenshot of', isLogged: true },
  },
  portforward: {
    stream: 'websocket',
    path: `${GUEST}/portforward/:port/:protocol`,
    subresource: { role: 'edit', verb: 'forward a port of' },
  },

  /** A guest that comes from another node: asked by the virt-handler there, and by nobody else. */
  migration: { stream: 'bytes', path: `${GUEST}/migration/:uid`, question: readMigrationQuestion, client: 'migration' },
  /** What such a guest has printed so far, whole when it is closed in order. */
  'migration/printed': { stream: 'websocket', path: `${GUEST}/migration/:uid/printed`, client: 'migration' },

  /** The last run that is over of the machine with this uid. */
  lastRun: { method: 'GET', path: '/v1/runs/:uid', answer: json<EndedRun>() },
} as const satisfies Readonly<Record<string, HandlerRoute>>;

type Table = typeof HANDLER_ROUTES;
export type HandlerRouteName = keyof Table;
export type RequestName = { [Name in HandlerRouteName]: Table[Name] extends RequestRoute ? Name : never }[HandlerRouteName];
export type StreamName = { [Name in HandlerRouteName]: Table[Name] extends StreamRoute ? Name : never }[HandlerRouteName];
export type BytesName = { [Name in StreamName]: Table[Name] extends { readonly stream: 'bytes' } ? Name : never }[StreamName];
/** Routes that are subresources of an instance, by the same name. */
export type GuestSubresourceName = {
  [Name in HandlerRouteName]: Table[Name] extends { readonly subresource: object } ? Name : never;
}[HandlerRouteName];

export type ParametersOf<Name extends HandlerRouteName> = ParametersIn<Table[Name]['path']>;
/** An empty object where no more is asked than the path says. */
export type QuestionOf<Name extends HandlerRouteName> = Name extends HandlerRouteName ? QuestionIn<Table[Name]> : never;
type QuestionIn<Route> = Route extends { readonly question: QuestionReader<infer Question> } ? Question : Readonly<Record<string, never>>;
/** Undefined where the answer is that it is done. */
export type AnswerOf<Name extends RequestName> = Name extends RequestName ? AnswerIn<Table[Name]['answer']> : never;
type AnswerIn<Form> = Form extends { readonly as: 'nothing' } ? undefined : Form extends AnswerForm<infer Answer> ? Answer : never;

/** True for the names in the table. */
export function isHandlerRouteName(name: string): name is HandlerRouteName {
  return Object.hasOwn(HANDLER_ROUTES, name);
}

/** The route of this name, as any route is. */
export function handlerRoute<Name extends HandlerRouteName>(name: Name): Name extends RequestName ? RequestRoute : StreamRoute;
export function handlerRoute(name: HandlerRouteName): HandlerRoute {
  return HANDLER_ROUTES[name];
}

/** What is asked at a route, from what was given; throws BadRequest. */
export function readQuestion<Name extends HandlerRouteName>(name: Name, given: Readonly<Record<string, unknown>>): QuestionOf<Name> {
  const { question } = HANDLER_ROUTES[name] as HandlerRoute;
  return (question?.(given) ?? {}) as QuestionOf<Name>; // its type is that of what the reader of this route returns
}
