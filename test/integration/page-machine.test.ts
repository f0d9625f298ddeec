/** The page of one machine in a real browser; nobody runs the machine. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { NAMESPACES } from '../../src/api/core/namespace.ts';
import { NODES } from '../../src/api/core/node.ts';
import { MIGRATIONS } from '../../src/api/kubevirt/kinds/migration.ts';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { tinySpec } from '../../src/testing/builders.ts';
import { accessibilityFaults, openPage, startBrowser, takePicture, whyNoBrowser } from '../e2e/browser.ts';
import { type PageOfMachines, startPageOfMachines } from './page-of-machines.ts';

const skip = whyNoBrowser ?? false;
let served: PageOfMachines;
let browser: Browser;
let page: Page;
/** What a part of the page threw: it shows nothing then. */
const broken: Error[] = [];

before(async () => {
  if (skip) return;
  [served, browser] = await Promise.all([startPageOfMachines(1), startBrowser()]);
  const { client } = served;
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  const metadata = { name: 'db', namespace: 'team' };
  const spec = { runStrategy: 'Always' as const, template: { spec: tinySpec } };
  await client.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec });
  const conditions = [{ type: 'AgentConnected', status: 'True' as const }];
  const status = { phase: 'Running' as const, nodeName: 'n1', conditions };
  await client.create(VMIS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec: tinySpec, status });
  page = await openPage(browser, served.link());
  page.setDefaultTimeout(10_000);
  page.on('pageerror', (error) => broken.push(error));
});
after(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
});

test('every command that is shown for a machine of another namespace says which', { skip }, async () => {
  const shown = new Set<string>();
  for (const tab of ['', '/logs', '/shell', '/disks', '/network', '/yaml']) {
    await page.goto(`${new URL(page.url()).origin}/ns/team/vm/db${tab}`);
    const commands = page.locator('code').filter({ hasText: /^(virtctl|kubectl) / });
    await commands.first().waitFor();
    for (const command of await commands.allInnerTexts()) shown.add(command);
  }
  const silent = [...shown].filter((command) => !/ -n team( |$)|db\/team/.test(command));
  assert.deepEqual([silent, shown.size > 8], [[], true], [...shown].join('\n'));
});

test('a move is shown under Activity while it goes, and is ended there', { skip }, async () => {
  const { client } = served;
  const at = { namespace: 'team', name: 'db' };
  const metadata = { namespace: 'team', name: 'move' };
  await client.create(MIGRATIONS, { apiVersion: 'kubevirt.io/v1', kind: MIGRATIONS.kind, metadata, spec: { vmiName: 'db' } });
  const vmi = (await client.get(VMIS, at)) ?? assert.fail('it is there');
  const migrationState = { sourceNode: 'n1', targetNode: 'n2', targetPod: 'p', migrationUid: 'u', sourcePod: 'q' };
  await client.update(VMIS, { ...vmi, status: { ...vmi.status, migrationState } });
  await page.goto(`${new URL(page.url()).origin}/activity`);
  await page.getByRole('heading', { name: 'Under way' }).waitFor();
  await page.getByText('Migrating from n1 to n2').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Cancel the move of db' }).click();
  await page.getByRole('button', { name: 'Cancel the move of db' }).and(page.locator('[aria-disabled=false]')).waitFor();
  const left = await client.get(MIGRATIONS, metadata);
  assert.ok(left === undefined || left.metadata.deletionTimestamp);
});

test('nodes say what machines were given, and what is wrong with the machine of the cluster, with the fix', { skip }, async () => {
  const allocatable = { cpu: '4', memory: '8Gi' };
  const conditions = [{ type: 'Ready', status: 'True' as const }];
  const metadata = { name: 'n1', labels: { 'kubevirt.io/schedulable': 'true' } };
  await served.client.create(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata,
    status: { allocatable, capacity: allocatable, conditions },
  });
  await page.goto(`${new URL(page.url()).origin}/nodes`);
  await page.getByRole('row', { name: /n1/ }).getByText('2 of 4').waitFor(); // db, and the machine that the page was started with
  const rows = page.getByRole('region', { name: 'The machine of this cluster' }).getByRole('row');
  await rows.filter({ hasText: 'Fix: set VIRT_HOME to a folder on a bigger disk' }).waitFor();
  assert.deepEqual(
    (await rows.locator('td:nth-child(2)').allInnerTexts()).map((text) => text.trim()),
    ['data disk', 'acceleration', 'node'],
  );
  assert.equal(await page.locator('img[src="x"]').count(), 0);
  await page.getByRole('button', { name: 'Look again' }).click();
  await rows.first().waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await takePicture(page, 'nodes');
});

test('no part of the page broke', { skip }, () => assert.deepEqual(broken, []));
