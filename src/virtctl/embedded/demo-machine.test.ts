import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loginIn } from '../../sdk/manifest/login-data.ts';
import { ensureSshKey } from '../ssh/ssh-key.ts';
import { demoMachine } from './demo-machine.ts';

test('the first machine lets in who has the key of the data folder, as every machine that run makes', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'demo-'));
  t.after(() => rmSync(home, { recursive: true }));
  const vm = await demoMachine({ examples: 'examples', home });
  const { publicKey } = await ensureSshKey(home);
  const [data] = (vm.spec.template.spec.volumes ?? []).flatMap(({ cloudInitNoCloud }) => cloudInitNoCloud?.userData ?? []);
  assert.deepEqual(loginIn(data ?? ''), { user: 'root', publicKey });
  assert.deepEqual(vm.spec.template.metadata?.annotations, { 'kubevirt.io/login-user': 'root' });
});
