/** The form for a new machine in a real browser, of machines that nobody runs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { PERSISTENT_VOLUME_CLAIMS } from '../../src/api/core/volume.ts';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { accessibilityFaults, openPage, startBrowser, takePicture, whyNoBrowser } from '../e2e/browser.ts';
import { type PageOfMachines, startPageOfMachines } from './page-of-machines.ts';

const skip = whyNoBrowser ?? false;
let served: PageOfMachines;
let browser: Browser;
let page: Page;

before(async () => {
  if (skip) return;
  [served, browser] = await Promise.all([startPageOfMachines(1), startBrowser()]);
  page = await openPage(browser, served.link());
  page.setDefaultTimeout(10_000);
  await page.getByRole('link', { name: 'Create' }).click();
});
after(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
});

const button = () => page.getByRole('button', { name: 'Create and start' });

test('while the server refuses the machine or its disk it cannot be made', { skip }, async () => {
  await page.getByLabel('Another containerDisk image').fill('localhost/guests/tiny');
  await page.getByLabel('Name', { exact: true }).fill('Not_A_Name');
  await page.getByRole('alert').filter({ hasText: 'Not_A_Name' }).first().waitFor();
  assert.equal(await button().isDisabled(), true);
  await page.getByLabel('Name', { exact: true }).fill('fresh');
  await page.getByRole('alert').first().waitFor({ state: 'detached' });
  await page.getByLabel('Size of the disk').fill('1Mi');
  await page.getByRole('alert').filter({ hasText: '1Mi is smaller than any image' }).waitFor();
  assert.equal(await button().isDisabled(), true);
  await page.getByLabel('Size of the disk').fill('1Gi');
  await page.getByRole('alert').first().waitFor({ state: 'detached' });
  await takePicture(page, 'create-fits');
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.deepEqual((await served.client.list(PERSISTENT_VOLUME_CLAIMS)).items, []);
  await button().click();
  await page.getByRole('heading', { name: 'fresh' }).waitFor();
  assert.ok(await served.client.get(VMS, { namespace: 'default', name: 'fresh' }));
});
