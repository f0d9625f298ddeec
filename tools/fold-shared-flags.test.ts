import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldSharedFlags } from './fold-shared-flags.ts';

const SHARED = `  -n [--namespace]   Namespace of the machine (default: the one of the kubeconfig, or "default")
     [--kubeconfig]  Kubeconfig file (default: $KUBECONFIG, else the embedded cluster, else ~/.kube/config)`;
const OF_ALL = `  -h  --help         Print help information and exit
      --             All subsequent inputs should be interpreted as arguments`;

test('flags of a connection and of every command are taken out, and the others stand closer', () => {
  const help = `Stop it\n\nFLAGS\n${SHARED}
     [--hard]        At once${' '.repeat(80)} [default = false]
     [--type]        How${' '.repeat(84)} [a|b, default = a]
${OF_ALL}\n\nARGUMENTS\n  NAME  Its name`;
  const folded = `Stop it\n\nFLAGS
     [--hard]  At once [default = false]
     [--type]  How     [a|b, default = a]

ARGUMENTS\n  NAME  Its name`;
  assert.deepEqual(foldSharedFlags(help), { help: folded, shared: ['namespace', 'kubeconfig'] });
});

test('where no other flag is left, none is spoken of', () => {
  assert.deepEqual(foldSharedFlags(`Stop it\n\nFLAGS\n${SHARED}\n${OF_ALL}\n\nARGUMENTS\n  NAME  Its name`), {
    help: 'Stop it\n\nARGUMENTS\n  NAME  Its name',
    shared: ['namespace', 'kubeconfig'],
  });
});

test('a flag of the same name with a meaning of its own stays', () => {
  const help = 'Write it\n\nFLAGS\n  -n [--namespace]  Namespace to write into the manifest';
  assert.deepEqual(foldSharedFlags(`${help}\n  -h  --help        Print help information and exit`), { help, shared: [] });
});
