/** What virt-handler has to have for its table of routes: a function for each. */
import type { AnswerOf, BytesName, HandlerRouteName, ParametersOf, QuestionOf, RequestName, StreamName } from '../../api/handler/routes.ts';
import type { BytesConnection, StreamConnection } from './stream-connection.ts';

export type Asked<Name extends HandlerRouteName> = { readonly parameters: ParametersOf<Name>; readonly question: QuestionOf<Name> };
type Promised<Answer> = Answer extends undefined ? Promise<void> : Promise<Answer>;

/** Each throws what the caller should be told: an ApiError, or anything else for an internal error. */
export type HandlerAnswers = {
  readonly [Name in RequestName]: (asked: Asked<Name>) => Promised<AnswerOf<Name>>;
} & {
  readonly [Name in StreamName]: (asked: Asked<Name>) => Promise<Name extends BytesName ? BytesConnection : StreamConnection>;
};
