import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError } from '../../base/errors.ts';
import type { Usage } from './answers.ts';
import { givenInBody, givenInQuery, queryOf } from './message.ts';
import type { ExecQuestion } from './questions.ts';
import { type AnswerOf, HANDLER_ROUTES, type HandlerRouteName, type ParametersOf, type QuestionOf, readQuestion } from './routes.ts';

/** The question as the other side reads it, or how it is refused. */
function across(name: HandlerRouteName, given: object): unknown {
  const route = HANDLER_ROUTES[name];
  const sent = (question: object) =>
    'method' in route && route.method === 'PUT'
      ? givenInBody(JSON.stringify(question))
      : givenInQuery(new URLSearchParams(queryOf(question)));
  try {
    const question = readQuestion(name, { ...given });
    const heard = readQuestion(name, sent(question));
    assert.deepEqual(heard, question, 'what is heard is what was asked');
    return heard;
  } catch (error) {
    if (error instanceof ApiError) return `${error.reason}: ${error.message}`;
    throw error;
  }
}

describe('questions to virt-handler', () => {
  const QUESTIONS: readonly (readonly [name: HandlerRouteName, given: object, expected: unknown])[] = [
    ['pause', { dryRun: ['All'], force: true }, {}],
    ['usage', { pretty: 'true' }, {}],
    ['console', {}, {}],
    ['console', { shared: 'true', write: 'false', follow: 'false' }, { shared: true, write: false, follow: false }],
    ['console', { shared: 'TRUE', write: '', constructor: 'true' }, {}],
    ['vnc', { preserveSession: 'true', follow: 'false' }, { preserveSession: true }],
    ['vnc/screenshot', {}, {}],
    ['vnc/screenshot', { moveCursor: '' }, {}],
    ['vnc/screenshot', { moveCursor: 'true' }, { moveCursor: true }],
    ['vnc/screenshot', { moveCursor: 'maybe' }, 'BadRequest: moveCursor: Invalid value: "maybe": must be true or false'],
    ['freeze', {}, {}],
    ['freeze', { unfreezeTimeout: '5m0s', dryRun: [] }, { unfreezeTimeout: '5m0s' }],
    ['freeze', { unfreezeTimeout: 'soon' }, 'BadRequest: unfreezeTimeout: Invalid value: "soon": must be a duration such as 5m0s'],
    ['freeze', { unfreezeTimeout: 5 }, 'BadRequest: unfreezeTimeout: Invalid value: 5: must be a duration such as 5m0s'],
    ['exec', { command: ['id', ''], input: 'aGk=', timeoutSeconds: 1.5 }, { command: ['id', ''], input: 'aGk=', timeoutSeconds: 1.5 }],
    ['exec', { command: ['id'], input: '', timeoutSeconds: null }, { command: ['id'] }],
    ['exec', { command: ['id'], timeoutSeconds: 0 }, 'BadRequest: timeoutSeconds: Invalid value: 0: must be greater than zero'],
  ];
  for (const [name, given, expected] of QUESTIONS)
    test(`${name} of ${JSON.stringify(given)}`, () => assert.deepEqual(across(name, given), expected));

  for (const command of [undefined, 'id', [], [''], ['a\0b'], [1], Array(257).fill('x'), { 0: 'id' }])
    test(`${JSON.stringify(command)?.slice(0, 20)} is no command`, () =>
      assert.equal(
        across('exec', { command }),
        'BadRequest: command: Invalid value: must be a program and its arguments, at most 256 words',
      ));

  test('a body that is not JSON is refused, and one that is no object says nothing', () => {
    assert.throws(() => givenInBody('{'), { name: 'ApiError', reason: 'BadRequest' });
    assert.deepEqual(['', '[]', 'null', '"x"'].map(givenInBody), [{}, {}, {}, {}]);
  });
});

test('the types of a route are those of its line in the table', () => {
  const parameters: ParametersOf<'portforward'> = { namespace: 'default', name: 'db', port: 22, protocol: 'tcp' };
  const question: QuestionOf<'exec'> = { command: ['id'] } satisfies ExecQuestion;
  const answer: AnswerOf<'usage'> = { cpuSeconds: 1, memoryBytes: 2, atMs: 3 } satisfies Usage;
  const done: AnswerOf<'pause'> = undefined;
  assert.ok(parameters && question && answer && done === undefined);
});
