/** Tests of test/e2e, unchanged, on the shared cluster; e2e/on-kubernetes.ts says which. */
import assert from 'node:assert/strict';
import { basename, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { run } from '../../e2e/harness.ts';
import { ON_KUBERNETES } from '../../e2e/on-kubernetes.ts';
import { VMCTL_IMAGE } from '../product-cluster.ts';
import { pushAs, pushGuest } from '../push-images.ts';
import type { World } from './world.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');
/** `E2E_FILES=board,probes` plays only these, `E2E_FILES=all` those of `test:soak`, too. */
const wanted = process.env['E2E_FILES'];
const FILES = Object.entries(ON_KUBERNETES)
  .filter(([, how]) => how === 'runs' || (wanted !== undefined && how === 'runs in soak'))
  .map(([file]) => file)
  .filter((file) => wanted === undefined || wanted === 'all' || wanted.split(',').includes(file));
/** As the examples have it, and as the manifests of KubeVirt. */
const VMCTL_NAMES = ['kubevirt-ts/vmctl:latest', 'fabiand/vmctl:latest'];
const LIMIT_MS = 20 * 60_000;

/** Those that failed beside others. */
const failed: { readonly file: string; readonly said: string }[] = [];
/** More are no accident. */
const MAX_REPEATED = 2;

export function e2eScenarios(world: World): void {
  describe('scenarios of the embedded cluster', { concurrency: 2 }, () => {
    before(async () => {
      for (const guest of ['tiny', 'tiny32', 'agent']) await pushGuest(world.cluster, guest, `guests/${guest}:latest`);
      for (const name of VMCTL_NAMES) await pushAs(world.cluster, VMCTL_IMAGE, name);
    });

    for (const file of FILES) {
      test(`test/e2e/${file}.test.ts`, async () => {
        const { code, said } = await play(world, file);
        if (code === 0) return;
        failed.push({ file, said });
        if (failed.length > MAX_REPEATED) assert.fail(failed.map((each) => each.said).join('\n'));
      });
    }
  });
}

/** One or two files that failed are run once more with nothing beside them (ADR 83): here, because the whole cluster is not to be made again for it. */
export function repeatedScenarios(world: World): void {
  test('files that failed beside others hold alone', async () => {
    for (const { file, said } of failed) {
      console.error(`${said}\nREPEATED 1: test/e2e/${file}.test.ts on a real cluster: failed, and run once more with nothing beside`);
      const { code, said: again } = await play(world, file);
      assert.equal(code, 0, again);
      console.error(`REPEATED 1: test/e2e/${file}.test.ts on a real cluster: held alone; why not at first is to be found`);
    }
  });
}

async function play(world: World, file: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const { code, stdout, stderr } = await run(process.execPath, ['--test', `--test-timeout=${LIMIT_MS}`, `test/e2e/${file}.test.ts`], {
    cwd: PROJECT,
    env: { E2E_REAL_CLUSTER: basename(world.cluster.folder), NODE_TEST_CONTEXT: undefined },
    timeoutMs: LIMIT_MS,
  });
  return { code, said: `${stdout}${stderr}` };
}
