/** The sessions of the documents this project grew from, unchanged, as on the embedded cluster. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, before, describe, test } from 'node:test';
import { replay } from '../../conformance/seeds/replay.ts';
import { pushGuest } from '../push-images.ts';
import type { World } from './world.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');
/** What the manifests of the documents call the guest that is `tiny32` here. */
const IMAGES = ['kubevirt/cirros-container-disk-demo:latest', 'kubevirt/cirros-registry-disk-demo:latest'];
const TRANSCRIPTS = [
  '000-virtual-machine.txt',
  '001-virtual-machine.txt',
  '002-virtual-machine-config.txt',
  '003-offline-virtual-machine.txt',
];

export function seedScenarios(world: World): void {
  describe('the sessions of the documents', () => {
    before(async () => {
      for (const image of IMAGES) await pushGuest(world.cluster, 'tiny32', image);
    });
    afterEach(() => world.kubectl('delete', 'ovm,vm,vmi,vmic,pvc', '--all', '--timeout=120s')); // a session may leave its machines to the reader

    for (const transcript of TRANSCRIPTS) {
      test(`the session of ${transcript}`, async (t) => {
        const tools = mkdtempSync(join(tmpdir(), 'session-tools-'));
        t.after(() => rmSync(tools, { recursive: true }));
        symlinkSync(join(PROJECT, 'bin/virtctl'), join(tools, 'virtctl'));
        symlinkSync(join(world.cluster.programs, 'kubectl'), join(tools, 'kubectl'));
        const path = `${tools}:${process.env['PATH']}`;
        await replay(join(PROJECT, 'test/conformance/seeds', transcript), { kubeconfig: world.cluster.kubeconfig, path });
      });
    }
  });
}
