import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { accessibilityFaults, openPage, startBrowser, startPageForMany, startWebPage, takePicture, whyNoBrowser } from './browser.ts';
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
  await seenByAll(page);

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
    ['Disks & snapshots', 'Nothing is kept of web.'],
    ['Network', 'There are none.'],
    ['Activity', 'Started'],
    ['YAML', 'Check'],
  ] as const) {
    await page.getByRole('link', { name: tab, exact: true }).last().click();
    await page.getByText(shows).first().waitFor();
    await takePicture(page, tab.toLowerCase().replaceAll(/\W+/g, '-'));
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
  await keepAndGoBack(page);
  await page.getByRole('button', { name: 'Delete web' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There is no machine web').waitFor();
});

/** A snapshot of web, which is stopped, is taken, gone back to and deleted; each dialog says the command. */
async function keepAndGoBack(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('link', { name: 'Disks & snapshots' }).click();
  await page.getByRole('button', { name: 'Take a snapshot' }).click();
  await dialog.getByLabel('Name').fill('before');
  await dialog.getByText('virtctl snapshot web before').waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'snapshot');
  await dialog.getByRole('button', { name: 'Take a snapshot' }).click();
  await page
    .getByRole('row', { name: /before/ })
    .getByText('Succeeded')
    .waitFor();
  await page.getByRole('button', { name: 'Restore before', exact: true }).click();
  await dialog.getByText('virtctl rollback web before').waitFor();
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await dialog.waitFor({ state: 'detached' });
  await cluster.must('kubectl', ['wait', 'vmrestore', '--all', '--for=jsonpath={.status.complete}=true', '--timeout=240s']);
  await takePicture(page, 'snapshots');
  await page.getByRole('button', { name: 'Delete before' }).click();
  await dialog.getByText('kubectl delete vmsnapshot before').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Nothing is kept of web.').waitFor();
}

/** The console of web, which the first browser has: a second one and virtctl read along, whatever is printed is text, and the turn is taken over. */
async function seenByAll(first: Page): Promise<void> {
  const second = await openPage(browser, await ownLink());
  await second.getByRole('link', { name: 'Console' }).click();
  await second.locator('.xterm-rows', { hasText: '42-is-it' }).waitFor(); // what was printed before
  await using inTerminal = cluster.console('web');
  await inTerminal.expect(/42-is-it/); // who comes has the turn
  const takeTurn = async (page: Page) => {
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('Connected.').waitFor();
  };
  await takeTurn(first);
  const hostile = '<img src=x onerror=alert(1)>';
  await first.locator('.xterm-helper-textarea').pressSequentially(`printf '\\033]0;gone\\007${hostile}'; echo $((6*111))-all\n`);
  for (const page of [first, second]) {
    await page.locator('.xterm-rows', { hasText: '666-all' }).waitFor();
    assert.equal(await page.title(), 'web · console');
    assert.equal(await page.locator('.terminal-place img').count(), 0);
  }
  await inTerminal.expect(/666-all/);
  await takeTurn(second);
  await second.locator('.xterm-helper-textarea').pressSequentially('echo $((7*111))-second\n');
  await first.locator('.xterm-rows', { hasText: '777-second' }).waitFor();
  await inTerminal.expect(/777-second/);
  await second.context().close();
}

async function ownLink(): Promise<string> {
  const [link = ''] = /http:\S+$/m.exec(await cluster.must('virtctl', ['up'])) ?? [];
  return link;
}

test('without a mouse a machine is made, started, entered, left and deleted', { skip }, async () => {
  await using ui = await startWebPage(cluster);
  const page = await openPage(browser, ui.link);
  const { keyboard } = page;
  const tabTo = async (wanted: Locator) => {
    for (let pressed = 0; pressed < 60; pressed++) {
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
      await keyboard.press('Tab');
    }
    assert.fail(`Tab does not lead to ${wanted}`);
  };
  await page.getByRole('navigation').first().waitFor();
  await keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to content');
  await keyboard.press('c');
  await tabTo(page.getByLabel('Name', { exact: true }));
  await keyboard.press('Control+a');
  await keyboard.type('keys');
  await tabTo(page.getByLabel('Start it'));
  await keyboard.press('Space');
  await tabTo(page.getByRole('button', { name: 'Create', exact: true }));
  await keyboard.press('Enter');
  await page.getByRole('button', { name: 'Start keys', exact: true }).waitFor();
  const command = async (text: string) => {
    await keyboard.press('Control+k');
    await page.waitForFunction(() => document.activeElement?.closest('dialog, [role=dialog]') != null); // then what is typed is for it
    await keyboard.type(text);
    await page.getByRole('option', { name: new RegExp(text, 'i'), selected: true }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor({ state: 'detached' });
  };
  await command('start keys');
  await command('console of keys');
  await page.getByText('Connected.').waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('.terminal') != null);
  await keyboard.press('Tab'); // the guest's
  assert.ok(await page.evaluate(() => document.activeElement?.closest('.terminal') != null));
  await keyboard.press('Shift+Escape');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Console');
  await command('delete keys');
  await tabTo(page.getByRole('dialog').getByRole('button', { name: 'Delete' }));
  await keyboard.press('Enter');
  await page.getByText('There is no machine keys').waitFor();
});

test('who may only look signs in with a token, sees machines, and is told why he cannot change them', { skip }, async () => {
  const kubectl = (...args: string[]) => cluster.must('kubectl', args);
  await kubectl('create', 'serviceaccount', 'viewer');
  await kubectl('create', 'rolebinding', 'viewer', '--clusterrole=kubevirt.io:view', '--serviceaccount=default:viewer');
  const input = await cluster.must('virtctl', ['create', 'vm', '--name', 'shown', '--run-strategy', 'Halted']);
  await cluster.must('kubectl', ['create', '-f', '-'], { input });
  await using ui = await startPageForMany(cluster);
  const page = await openPage(browser, ui.link);
  assert.deepEqual(await accessibilityFaults(page), [], 'sign-in');
  await takePicture(page, 'sign-in');
  await page.getByLabel('Token of your account').fill('nonsense');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').filter({ hasText: 'does not know this token' }).waitFor();
  await page.getByLabel('Token of your account').fill((await kubectl('create', 'token', 'viewer')).trim());
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Only namespace default').waitFor();
  await page.getByText('system:serviceaccount:default:viewer').waitFor();
  await page.getByRole('button', { name: 'Start shown: you may not start machines in default' }).waitFor();
  await takePicture(page, 'view-only');
  assert.deepEqual(await accessibilityFaults(page), [], 'view only');
  await page.getByRole('link', { name: 'shown', exact: true }).click();
  for (const action of ['start', 'stop', 'restart', 'delete']) {
    const button = page.getByRole('button', { name: `you may not ${action} machines in default` });
    assert.equal(await button.getAttribute('aria-disabled'), 'true', action);
  }
  await page.keyboard.press('c');
  await page.getByRole('alert').filter({ hasText: 'you may not create machines in default' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token of your account').waitFor();
  await page.goto(`${ui.origin}/ns/default/vm/shown`);
  await page.getByLabel('Token of your account').waitFor();
  await kubectl('delete', 'vm', 'shown');
});

test('in the dark every page can be read, nodes are listed, and what others wrote is text', { skip }, async () => {
  const hostile = '<img src=x onerror=alert(1)>\u202e\u001b[2J';
  const about = { namespace: 'default', kind: 'VirtualMachine', name: 'dark' };
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'hostile' },
    involvedObject: about,
    reason: 'Said',
    message: hostile,
    type: 'Warning',
  };
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(event) });
  const input = await cluster.must('virtctl', ['create', 'vm', '--name', 'dark', '--run-strategy', 'Halted']);
  await cluster.must('kubectl', ['create', '-f', '-'], { input });
  await using ui = await startWebPage(cluster);
  const page = await openPage(browser, ui.link, 'dark');
  page.on('dialog', () => assert.fail('what somebody wrote was run'));
  await page.getByRole('link', { name: 'dark', exact: true }).click();
  for (const name of ['Disks & snapshots', 'Network', 'YAML', 'Activity', 'Overview']) {
    await page.getByRole('navigation', { name: 'Parts of dark' }).getByRole('link', { name, exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'detached' });
    assert.deepEqual(await accessibilityFaults(page), [], name);
    if (name === 'Activity') await page.getByText('<img src=x onerror=alert(1)>\\u202e\\u001b[2J').waitFor();
  }
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Create a machine' }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), [], 'create');
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
  const pages = await Promise.all([ui.link, await ownLink()].map((link) => openPage(browser, link)));
  for (const page of pages) await page.getByRole('navigation').first().waitFor();
  await cluster.must('virtctl', ['down']);
  for (const page of pages) await page.getByText('what you see may be old').waitFor();
  await cluster.must('virtctl', ['up']);
  for (const page of pages) await page.getByText('what you see may be old').waitFor({ state: 'detached' });
});
