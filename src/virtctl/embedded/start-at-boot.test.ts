import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findProgram } from '../../base/node/find-program.ts';
import { bootUnit } from './boot-unit.ts';
import { type BootHost, noLongerAtBoot, startAtBoot } from './start-at-boot.ts';

const options = { home: '/data/vms', program: '/opt/kubevirt-ts/bin/virtctl', node: '/opt/node/bin/node', env: { HOME: '/home/me' } };

function host(t: TestContext, more: Partial<BootHost> = {}) {
  const unitFolder = mkdtempSync(join(tmpdir(), 'units-'));
  t.after(() => rmSync(unitFolder, { recursive: true }));
  const calls: string[] = [];
  const call = (program: string, args: readonly string[]) => calls.push([program, ...args].join(' '));
  return { calls, units: () => readdirSync(unitFolder), host: { isRoot: false, hasSystemd: true, unitFolder, call, ...more } };
}

test('a user gets a unit of their own that lingers, and loses it again', (t) => {
  const { host: own, calls, units } = host(t);
  startAtBoot(options, own);
  const [unit = ''] = units();
  assert.match(unit, /^kubevirt-ts-[0-9a-f]{8}\.service$/);
  assert.match(readFileSync(join(own.unitFolder, unit), 'utf8'), /^Environment="VIRT_HOME=\/data\/vms"$/m);
  assert.ok(noLongerAtBoot(options, own));
  assert.deepEqual(units(), []);
  assert.equal(noLongerAtBoot(options, own), undefined);
  assert.deepEqual(calls, [
    'systemctl --user daemon-reload',
    `systemctl --user enable ${unit}`,
    'loginctl enable-linger',
    `systemctl --user disable ${unit}`,
    'systemctl --user daemon-reload',
  ]);
});

test('root gets a unit of the system', (t) => {
  const { host: own, calls, units } = host(t, { isRoot: true });
  startAtBoot(options, own);
  const [unit = ''] = units();
  assert.deepEqual(calls, ['systemctl daemon-reload', `systemctl enable ${unit}`]);
  assert.match(readFileSync(join(own.unitFolder, unit), 'utf8'), /^WantedBy=multi-user\.target$/m);
});

test('each data folder has a unit of its own', (t) => {
  const { host: own, units } = host(t);
  startAtBoot(options, own);
  startAtBoot({ ...options, home: '/data/other' }, own);
  assert.equal(units().length, 2);
});

test('without systemd the line for cron is told, and nothing is written', (t) => {
  const { host: own, calls, units } = host(t, { hasSystemd: false });
  const env = { HOME: "/home/o'hara" };
  assert.deepEqual(startAtBoot({ ...options, env }, own), {
    warning: 'systemd does not run here: cron can start it, see below',
    cronLine:
      "@reboot env 'HOME=/home/o'\\''hara' VIRT_HOME=/data/vms " +
      'PATH=/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /opt/kubevirt-ts/bin/virtctl up',
  });
  assert.deepEqual([calls, units()], [[], []]);
});

test('a unit that cannot be switched on does not stay', (t) => {
  const call = () => {
    throw new Error('Failed to connect to bus');
  };
  const { host: own, units } = host(t, { call });
  assert.throws(() => startAtBoot(options, own), { code: 'NOT_AT_BOOT', message: /cannot be started with the machine/ });
  assert.deepEqual(units(), []);
});

const analyze = findProgram('systemd-analyze', process.env['PATH']);
test('systemd takes the unit, also with odd characters in its paths', { skip: !analyze && 'systemd-analyze is not installed' }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'a "unit" of 100% $HOME-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'virtctl');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const path = join(folder, 'kubevirt-ts.service');
  writeFileSync(path, bootUnit({ program, env: { VIRT_HOME: folder }, isSystem: true }));
  const { stdout, stderr } = spawnSync(analyze ?? '', ['verify', '--man=no', path], { encoding: 'utf8', timeout: 60_000 });
  const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('kubevirt-ts'));
  assert.deepEqual(about, []);
  assert.ok(existsSync(path));
});
