import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { TargetChoice } from './target-choice.ts';

const [A, B, C] = ['10.244.0.2', '10.244.0.3', '10.244.0.4'].map((host) => ({ host, port: 80 })) as [Target, Target, Target];
type Target = { readonly host: string; readonly port: number };

test('without affinity every connection is the next one’s turn', () => {
  const choice = new TargetChoice(new FakeClock());
  choice.set({ targets: [A, B] });
  assert.deepEqual(
    [choice.inTurn('me'), choice.inTurn('me'), choice.inTurn('me')],
    [
      [A, B],
      [B, A],
      [A, B],
    ],
  );
  choice.set({ targets: [] });
  assert.deepEqual(choice.inTurn('me'), []);
});

test('with affinity a client comes back to its target, until that is gone or the time is over', () => {
  const clock = new FakeClock();
  const choice = new TargetChoice(clock);
  const first = (client: string) => {
    const [target] = choice.inTurn(client);
    if (target) choice.chose(client, target);
    return target;
  };
  choice.set({ targets: [A, B, C], affinityMs: 10_000 });
  assert.deepEqual(
    ['me', 'you', 'me', 'you'].map((client) => first(client)),
    [A, B, A, B],
  );
  choice.set({ targets: [B, C], affinityMs: 10_000 });
  const moved = first('me');
  assert.notDeepEqual(moved, A);
  clock.advance(9_000);
  assert.deepEqual(first('me'), moved);
  clock.advance(9_000);
  assert.deepEqual(first('me'), moved, 'each connection begins the time anew');
  clock.advance(10_001);
  assert.deepEqual([first('a'), first('me')].length, 2);
});

test('so many clients are remembered, and no more', () => {
  const choice = new TargetChoice(new FakeClock());
  choice.set({ targets: [A, B], affinityMs: 10_000 });
  choice.chose('first', B);
  for (let i = 0; i < 10_000; i++) choice.chose(`client ${i}`, A);
  choice.inTurn('one more');
  assert.deepEqual([choice.inTurn('client 9999')[0], choice.inTurn('client 0')[0]], [A, A]);
  assert.deepEqual([choice.inTurn('first')[0], choice.inTurn('first')[0]], [B, A], 'forgotten: in turn');
});
