import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchOutput } from './match-output.ts';
import { parseTranscript } from './parse-transcript.ts';

const lines = (text: string) => text.split('\n');

describe('a transcript', () => {
  test('has files, commands, what they print, exit codes and bounds', () => {
    const text = [
      '# Words.',
      '=== vm.yaml',
      'a: 1',
      '# a comment in the file',
      '===',
      '',
      '$ kubectl patch vm a -p \\',
      "> '{}'",
      'patched',
      '',
      'twice',
      '',
      '(within 60s)',
      '$ kubectl get vm b',
      'not found',
      '(exit 1)',
    ].join('\n');
    assert.deepEqual(parseTranscript(text), [
      { do: 'write', line: 2, name: 'vm.yaml', content: 'a: 1\n# a comment in the file\n' },
      { do: 'run', line: 7, command: "kubectl patch vm a -p \\\n'{}'", expected: ['patched', '', 'twice'], exitCode: 0 },
      { do: 'run', line: 14, command: 'kubectl get vm b', expected: ['not found'], exitCode: 1, withinMs: 60_000 },
    ]);
  });

  for (const [text, complaint] of [
    ['\nlost', /line 2: neither a command nor the output of one: lost/],
    ['=== a\nb', /line 1: the file a does not end/],
    ['=== ../a\n===', /line 1: \.\.\/a has to be in the folder/],
    ['(within 5s)\n# no', /line 2: a command has to follow/],
    ['(within 5s)', /line 1: a command has to follow/],
  ] as const) {
    test(`that is not one is refused: ${JSON.stringify(text)}`, () => assert.throws(() => parseTranscript(text), complaint));
  }
});

describe('the output of a command', () => {
  const matches = (expected: string, output: string, known = {}) => matchOutput(lines(expected), output, known);
  const is = (expected: string, output: string) => assert.deepEqual(matches(expected, output), { isMatch: true, names: {} });
  const isNot = (expected: string, output: string) => assert.equal(matches(expected, output).isMatch, false);

  test('may have other widths of columns, but not other words or another indentation', () => {
    is('NAME AGE\nvm 1s', 'NAME   AGE\nvm     1s  \n');
    isNot('NAME AGE', 'NAMEAGE');
    isNot('  Ready: true', 'Ready: true');
    isNot('Ready: true', 'Ready: false');
  });

  test('has to be there, and nothing more', () => {
    isNot('a', '');
    isNot('a', 'a\nb');
    isNot('a\nb', 'a');
    isNot('', 'a');
    assert.equal(matchOutput([], '').isMatch, true);
    assert.equal(matchOutput([], 'a').isMatch, false);
  });

  test('is skipped over by ..., and by nothing else', () => {
    is('a\n...\nd', 'a\nb\nc\nd');
    is('a\n...\nd', 'a\nd');
    is('...', '');
    is('...\n  b\n...\nd\n...', 'a\n  b\nc\nd\ne');
    isNot('a\n...\nd', 'a\nb\nc\nd\ne');
    isNot('...\nd\n...\nb', 'b\nc\nd');
  });

  test('has ages, uids and anything where the placeholders are, and characters stand for themselves', () => {
    is('vm <age> Running', 'vm   4m2s   Running');
    is('Normal Started <age> x', 'Normal  Started  9s (x2 over 1m)  x');
    isNot('vm <age> Running', 'vm   soon   Running');
    is('UID: <uid>', 'UID: 60043358-4c58-11e8-8653-525500d15501');
    isNot('UID: <uid>', 'UID: 1234');
    is('deleted<any>', 'deleted');
    is('deleted<any>', 'deleted from default namespace');
    is('Labels: <none> (a.b)', 'Labels:   <none> (a.b)');
    isNot('a.b', 'axb');
  });

  test('gives names to what placeholders stood for, and has to say the same wherever a name stands again', () => {
    assert.deepEqual(matches('c1-<any:i1> Running', 'c1-abcde   Running'), { isMatch: true, names: { i1: 'abcde' } });
    assert.deepEqual(matches('c1-<any:i1> Running', 'c1-abcde Running', { i1: 'abcde' }), { isMatch: true, names: { i1: 'abcde' } });
    assert.equal(matches('c1-<any:i1> Running', 'c1-vwxyz Running', { i1: 'abcde' }).isMatch, false);
    assert.equal(matches('<any:a> <any:a>', 'x y').isMatch, false);
    assert.equal(matches('<any:a>\n<any:a>', 'x\ny').isMatch, false);
    assert.equal(matches('<any:a>\n<any:a>', 'x\nx').isMatch, true);
  });

  test('is shown beside what was expected when it is another', () => {
    assert.deepEqual(matches('Name: a\n...\nStatus:\n  Ready: true\nEvents:', 'Name: a\nSpec:\nStatus:\n  Ready: false\nEvents:'), {
      isMatch: false,
      difference: '    Name: a\n  . Spec:\n    Status:\n  -   Ready: true\n  +   Ready: false\n    Events:',
    });
  });
});
