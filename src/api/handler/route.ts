/** What a route of virt-handler's door is: where it is, what is asked there, what is answered. */
import type { JsonObject } from '../../base/json.ts';

/** Makes a question of what was given, which may be anything; throws BadRequest. What it made reads as the same question again. */
export type QuestionReader<Question extends object = object> = (given: JsonObject) => Question;

/** How an answer travels. `carries` is never there: it has the type of the answer. */
export type AnswerForm<Answer = unknown> = { readonly as: 'nothing' | 'json' | 'png'; readonly carries?: Answer };

/** The subresource of an instance that is passed on to this route, under the name of the route. */
export type ServedSubresource = {
  /** The least of the roles for people that includes it. */
  readonly role: 'view' | 'edit' | 'admin';
  /** What could not be done, between "Cannot" and "VMI"; the name of the route when not given. */
  readonly verb?: string;
  /** Who asked is logged, as it is for all that changes something. */
  readonly isLogged?: true;
};

type Common = {
  /** Literal segments, and `:parameters` of which route-path.ts knows the grammar. */
  readonly path: string;
  /** Reads the query of a GET and of a stream, the JSON object in the body of a PUT; without it, nothing more is asked than the path says. */
  readonly question?: QuestionReader;
  readonly subresource?: ServedSubresource;
  /** Who asks, when that is not virt-api: another virt-handler, from which a guest comes. */
  readonly client?: 'migration';
};
export type RequestRoute = Common & {
  readonly method: 'GET' | 'PUT';
  readonly answer: AnswerForm;
  /** How long virt-handler may take; longer than it takes to give up itself, since it can say why. */
  readonly timeoutMs?: number;
};
/** Bytes both ways, once the connection to the guest stands: in messages of a WebSocket, or, where they are many, as they are. */
export type StreamRoute = Common & { readonly stream: 'websocket' | 'bytes' };
export type HandlerRoute = RequestRoute | StreamRoute;

/** What the connection of a stream is upgraded to. */
export const UPGRADE_OF = { websocket: 'websocket', bytes: 'bytes.kubevirt.io' } as const satisfies Record<StreamRoute['stream'], string>;

/** The answer is that it is done. */
export const nothing = { as: 'nothing' } as const satisfies AnswerForm<undefined>;
/** The answer is a picture. */
export const png: AnswerForm<Uint8Array> & { readonly as: 'png' } = { as: 'png' };

/** The answer is a value, as JSON. */
export function json<Answer extends object>(): AnswerForm<Answer> & { readonly as: 'json' } {
  return { as: 'json' };
}
