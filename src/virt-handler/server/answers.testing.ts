/** Answers for a server of which only some are asked. */
import { HANDLER_ROUTES } from '../../api/handler/routes.ts';
import { ApiError } from '../../base/errors.ts';
import type { HandlerAnswers } from './handler-answers.ts';

/** What is not given is answered with an internal error. */
export function onlyAnswers(given: Partial<HandlerAnswers>): HandlerAnswers {
  const unanswered = async () => {
    throw new ApiError('InternalError', 'nothing of this is here');
  };
  const all = Object.fromEntries(Object.keys(HANDLER_ROUTES).map((name) => [name, unanswered]));
  return { ...all, ...given } as HandlerAnswers; // every name of the table
}
