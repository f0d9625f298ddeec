/** Questions and answers as HTTP carries them, for both sides of the door. */
import { ApiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { AnswerForm } from './route.ts';

const MEDIA_TYPES = { json: 'application/json', png: 'image/png' } as const;

/** The query that asks this, with its question mark; of a GET and of a stream. */
export function queryOf(question: object): string {
  const given = Object.entries(question).filter(([, value]) => value !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** What a query says, before it is read as a question. */
export function givenInQuery(query: URLSearchParams): JsonObject {
  return Object.fromEntries(query);
}

/** What a body says, before it is read as a question; an empty one says nothing. */
export function givenInBody(text: string): JsonObject {
  const given = text === '' ? {} : parseJson(text);
  return isObject(given) ? given : {};
}

/** An answer as a response. */
export function responseOf({ as }: AnswerForm, answer: unknown): Response {
  switch (as) {
    case 'nothing':
      return new Response(null, { status: 200 });
    case 'json':
      return new Response(JSON.stringify(answer), { headers: { 'content-type': MEDIA_TYPES.json } });
    case 'png':
      return new Response(answer as Uint8Array<ArrayBuffer>, { headers: { 'content-type': MEDIA_TYPES.png } }); // what this form carries
  }
}

/** The answer in the body of a response. */
export function answerFrom({ as }: AnswerForm, body: Uint8Array): unknown {
  switch (as) {
    case 'nothing':
      return undefined;
    case 'json':
      return JSON.parse(new TextDecoder().decode(body));
    case 'png':
      return body;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError('BadRequest', 'the question is not JSON', { cause: error });
  }
}
