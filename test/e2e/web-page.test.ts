import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { accessibilityFaults, openPage, startBrowser, startWebPage, takePicture, whyNoBrowser } from './browser.ts';
import { EmbeddedCluster } from './harness.ts';

const skip = whyNoBrowser ?? false;
let cluster: EmbeddedCluster;
let browser: Browser;

before(async () => {
  if (skip) return;
  [cluster, browser] = await Promise.all([EmbeddedCluster.start(), startBrowser()]);
});
after(async () => {
  await browser?.close();
  await cluster?.[Symbol.asyncDispose]();
});

test('a machine is made, entered, seen, stopped and deleted in a browser', { skip }, async () => {
  await using ui = await startWebPage(cluster);
  const page = await openPage(browser, ui.link);
  await page.getByRole('heading', { name: 'No machines yet' }).waitFor();
  await takePicture(page, 'empty');

  await page.getByRole('link', { name: 'Create a machine' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Not_A_Name');
  await page.getByRole('alert').filter({ hasText: 'Not_A_Name' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('web');
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await takePicture(page, 'create');
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Create and start' }).click();

  await page.getByText('Connected.').waitFor();
  await page.locator('.xterm-rows', { hasText: 'login:' }).waitFor();
  await page.locator('.xterm-helper-textarea').pressSequentially('root\n');
  await page.locator('.xterm-rows', { hasText: 'Password:' }).waitFor();
  await page.locator('.xterm-helper-textarea').pressSequentially('guest\n');
  await page.locator('.xterm-rows', { hasText: '#' }).waitFor();
  await page.locator('.xterm-helper-textarea').pressSequentially('echo $((6*7))-is-it\n');
  await page.locator('.xterm-rows', { hasText: '42-is-it' }).waitFor();
  await takePicture(page, 'console');

  await page.getByRole('link', { name: 'Screen' }).click();
  await page.getByText('Connected.').waitFor();
  await page.waitForFunction(() => {
    const canvas = document.querySelector('canvas');
    const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    return new Set(pixels).size > 2; // something other than black is drawn
  });
  await takePicture(page, 'screen');

  await page.getByRole('link', { name: 'Machines' }).click();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('open web');
  await page.getByRole('option', { name: /Open web/, selected: true }).waitFor();
  await takePicture(page, 'palette');
  assert.deepEqual(await accessibilityFaults(page), [], 'palette');
  await page.keyboard.press('Enter');
  await page.getByText('web is running').waitFor();
  await page.getByRole('img', { name: /^Memory in the last hour: of its node \d+Mi/ }).waitFor(); // measured by its node
  await takePicture(page, 'overview');
  for (const [tab, shows] of [
    ['Activity', 'Started'],
    ['YAML', 'Check'],
  ] as const) {
    await page.getByRole('link', { name: tab, exact: true }).last().click();
    await page.getByText(shows).first().waitFor();
    await takePicture(page, tab.toLowerCase());
    assert.deepEqual(await accessibilityFaults(page), [], tab);
  }

  await page.getByRole('link', { name: 'Machines' }).click();
  await page.getByRole('row', { name: /web/ }).getByText('Running').waitFor();
  await page.getByRole('img', { name: /^Processors: / }).waitFor();
  await takePicture(page, 'machines');
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('checkbox', { name: 'Select web' }).check();
  await page.getByRole('button', { name: 'Stop the selected machines' }).click();
  await page.getByText('virtctl stop web').waitFor();
  await takePicture(page, 'bulk');
  assert.deepEqual(await accessibilityFaults(page), [], 'bulk');
  await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('row', { name: /web/ }).getByText('Stopped').waitFor();

  await page.getByRole('link', { name: 'web', exact: true }).click();
  await page.getByRole('button', { name: 'Delete web' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There is no machine web').waitFor();
});

test('in the dark every page can be read, and nodes are listed', { skip }, async () => {
  await using ui = await startWebPage(cluster);
  const page = await openPage(browser, ui.link, 'dark');
  for (const name of ['Nodes', 'Activity', 'Machines']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading').first().waitFor();
    assert.deepEqual(await accessibilityFaults(page), [], name);
    await takePicture(page, `dark-${name.toLowerCase()}`);
  }
});

test('a link lets one browser in, once', { skip }, async () => {
  await using ui = await startWebPage(cluster);
  const first = await openPage(browser, ui.link);
  await first.getByRole('navigation').first().waitFor();
  const second = await openPage(browser, ui.link);
  assert.match(await second.content(), /this link was used/);
});

test('a cluster that goes away is said, and seen again when it is back; its own page knows its browsers then', { skip }, async () => {
  await using ui = await startWebPage(cluster);
  const [own = ''] = /http:\S+$/m.exec(await cluster.must('virtctl', ['up'])) ?? [];
  const pages = await Promise.all([ui.link, own].map((link) => openPage(browser, link)));
  for (const page of pages) await page.getByRole('navigation').first().waitFor();
  await cluster.must('virtctl', ['down']);
  for (const page of pages) await page.getByText('what you see may be old').waitFor();
  await cluster.must('virtctl', ['up']);
  for (const page of pages) await page.getByText('what you see may be old').waitFor({ state: 'detached' });
});
