import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { PersistentVolume } from '../../../api/core/volume.ts';
import type { VirtualMachine } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { systemClock } from '../../../base/clock.ts';
import { identifyChild } from '../../../base/node/process-identity.ts';
import { startFileServer } from '../../../images/import/file-server.testing.ts';
import { importImage } from '../../../images/import-file.ts';
import { qcow2Start } from '../../../images/qcow2-header.testing.ts';
import { openImageStore } from '../../../images/store.ts';
import { vm, vmi } from '../../../testing/builders.ts';
import { until } from '../../../testing/until.ts';
import { status, testDeps } from '../../deps.testing.ts';
import { ensureSshKey } from '../../ssh/ssh-key.ts';
import { run } from './run.ts';

const VMS = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const ATTENDED = { rm: false, agentTimeout: 60, timeout: 600, stdin: false };
const FLAGS = {
  ...ATTENDED,
  name: 'db',
  memory: '128Mi',
  disk: '1Gi',
  ephemeral: false,
  detach: true,
  dryRun: false,
  output: 'yaml',
} as const;
/** Nothing stands against them. */
const TRIED = { [`POST ${VMS}?dryRun=All`]: {}, [`POST ${CLAIMS}?dryRun=All`]: {} };
const CLASSES = 'GET /apis/storage.k8s.io/v1/storageclasses';
const home = mkdtempSync(join(tmpdir(), 'run-'));
after(() => rmSync(home, { recursive: true }));
const claim = { metadata: { namespace: 'default', name: 'db-root', uid: 'claim-1' } };

test('both are asked about, then the claim first, then the machine, to which the claim then belongs', async () => {
  const answers = { ...TRIED, [`POST ${CLAIMS}`]: claim, [`POST ${VMS}`]: vm('Always'), [`PATCH ${CLAIMS}/db-root`]: claim };
  const { deps, requests, stdout } = testDeps(answers, { home });
  await run(deps, FLAGS, 'tiny');
  assert.deepEqual(
    requests.map(([request]) => request),
    [`GET ${VMS}/db`, CLASSES, ...Object.keys(TRIED), `POST ${CLAIMS}`, `POST ${VMS}`, `PATCH ${CLAIMS}/db-root`],
  );
  assert.deepEqual(requests.at(-1)?.[1], {
    metadata: { ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'db', uid: 'vm-1' }] },
  });
  assert.equal(stdout(), 'db\n');
});

for (const [what, provisioner, mode] of [
  ['of an embedded cluster is one that all nodes see, so that it can be moved', 'kubevirt-ts.io/local', 'ReadWriteMany'],
  ['elsewhere is as most classes give it', 'example.com/disks', 'ReadWriteOnce'],
] as const)
  test(`a disk ${what}`, async () => {
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const classes = {
      metadata: {},
      items: [
        { metadata: { name: 'other' }, provisioner: 'x' },
        { metadata: { name: 'c', annotations }, provisioner },
      ],
    };
    const answers = {
      ...TRIED,
      [CLASSES]: classes,
      [`POST ${CLAIMS}`]: claim,
      [`POST ${VMS}`]: vm('Always'),
      [`PATCH ${CLAIMS}/db-root`]: claim,
    };
    const { deps, requests } = testDeps(answers, { home });
    await run(deps, FLAGS, 'tiny');
    const [, sent] = requests.find(([request]) => request === `POST ${CLAIMS}`) ?? [];
    assert.deepEqual((sent as { spec: { accessModes: string[] } }).spec.accessModes, [mode]);
  });

test('a machine that is refused leaves no claim', async () => {
  const { deps, requests } = testDeps(
    {
      ...TRIED,
      [`POST ${CLAIMS}`]: claim,
      [`POST ${VMS}`]: status('Invalid', 'memory is too small'),
      [`DELETE ${CLAIMS}/db-root`]: {},
    },
    { home },
  );
  await assert.rejects(run(deps, FLAGS, 'tiny'), { reason: 'Invalid', message: 'memory is too small' });
  assert.equal(requests.at(-1)?.[0], `DELETE ${CLAIMS}/db-root`);
});

test('a name that is taken is said of the machine, and nothing is made', async () => {
  const { deps, requests } = testDeps({ [`GET ${VMS}/db`]: vm('Always') }, { home });
  await assert.rejects(run(deps, FLAGS, 'tiny'), { reason: 'AlreadyExists', message: /virtualmachines.*"db" already exists/ });
  assert.equal(requests.length, 1);
});

test('--dry-run prints both and asks nobody; --ephemeral has no claim', async () => {
  const { deps, requests, stdout } = testDeps({}, { home });
  await run(deps, { ...FLAGS, dryRun: true }, 'quay.io/team/disk:1');
  const kinds = parseAllDocuments(stdout()).map((document) => document.toJS().kind);
  assert.deepEqual([kinds, requests], [['PersistentVolumeClaim', 'VirtualMachine'], []]);
  const other = testDeps({}, { home });
  await run(other.deps, { ...FLAGS, dryRun: true, ephemeral: true, output: 'json' }, 'tiny');
  assert.equal(JSON.parse(other.stdout()).spec.template.spec.volumes[0].containerDisk.image, 'localhost/guests/tiny:latest');
});

test('without --detach the console opens at the login prompt', async () => {
  async function* output() {
    yield Buffer.from('login: ');
  }
  const running = vmi('Running');
  const watch = new Response(`${JSON.stringify({ type: 'ADDED', object: running })}\n`);
  const { deps, stderr } = testDeps(
    {
      [`POST ${VMS}`]: vm('Always'),
      [`GET ${VMS}/db`]: vm('Always'),
      'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db': running,
      'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances?fieldSelector=metadata.name%3Ddb&watch=true&allowWatchBookmarks=true':
        watch,
    },
    { home, openConsole: async () => ({ output: output(), write() {}, takeOver() {}, close() {} }) },
  );
  await run(deps, { ...FLAGS, detach: false, ephemeral: true }, 'tiny');
  assert.match(stderr(), /✓ vm +db is running and waits at its login prompt[\s\S]*Connected to the console of db[\s\S]*db keeps running\./);
});

test('Ctrl+C while it is made says that nobody knows, and ends', async () => {
  const left: number[] = [];
  const { deps, signal, requests, stderr } = testDeps(
    { [`GET ${VMS}/db`]: () => new Response(new ReadableStream()) }, // an answer that does not come
    { home, exit: ((code: number) => left.push(code)) as never }, // goes on, where the program would have ended
  );
  void run(deps, FLAGS, 'tiny');
  await until(() => requests.length === 1, 'the question');
  signal('SIGINT');
  assert.deepEqual(left, [130]);
  assert.match(stderr(), /Interrupted while db was being made\. .*kubectl get pvc db-root/);
});

test('a name that cannot be one is told as the name of the machine, before anything is made', async () => {
  const { deps, requests } = testDeps({}, { home });
  await assert.rejects(run(deps, { ...FLAGS, name: 'Hello_World' }, 'tiny'), { code: 'USAGE', fix: '--name hello-world' });
  assert.deepEqual(requests, []);
});

/** As if the embedded cluster of the data folder ran; its address. */
function ownCluster(t: TestContext): string {
  mkdirSync(join(home, 'run'), { recursive: true });
  const state = join(home, 'run/embedded.json');
  writeFileSync(state, JSON.stringify({ process: identifyChild(process.pid), port: 7001, startedAt: '', version: 'v0' }));
  t.after(() => rmSync(state, { force: true }));
  return 'https://127.0.0.1:7001';
}

const VERSION = { 'GET /version': { gitCommit: 'kubevirt-ts' } };
const manifestOf = async (flags: object, ...words: string[]) => {
  const { deps, stdout, stderr } = testDeps({}, { home, workingFolder: home });
  await run(deps, { ...ATTENDED, name: 'db', ephemeral: true, detach: true, dryRun: true, output: 'json', ...flags }, ...words);
  const { metadata, spec } = JSON.parse(stdout());
  const userData = spec.template.spec.volumes.find((volume: { name: string }) => volume.name === 'cloudinitdisk')?.cloudInitNoCloud
    .userDataBase64;
  return { metadata, spec, said: stderr(), userData: userData && Buffer.from(userData, 'base64').toString() };
};

test('a folder of this machine is given to one PVC that is there, which goes with the machine', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'shared-')));
  t.after(() => rmSync(folder, { recursive: true }));
  const server = ownCluster(t);
  writeFileSync(join(home, 'tiny.raw'), Buffer.alloc(1024, 'disk'));
  await importImage({ storeDir: join(home, 'images'), path: join(home, 'tiny.raw'), reference: 'localhost/guests/tiny:latest' });
  const folderClaim = {
    metadata: { namespace: 'default', name: 'db-mount0', uid: 'claim-2' },
    spec: { volumeName: 'folder-1', accessModes: ['ReadOnlyMany'] },
  };
  const answers = {
    ...VERSION,
    ...TRIED,
    [`POST ${CLAIMS}`]: folderClaim,
    'POST /api/v1/persistentvolumes': {},
    [`POST ${VMS}`]: vm('Always'),
    [`PATCH ${CLAIMS}/db-mount0`]: folderClaim,
  };
  const { deps, requests } = testDeps(answers, { home, workingFolder: folder, server });
  await run(deps, { ...FLAGS, ephemeral: true, mount: ['.:/work:ro'] }, 'tiny');
  const sent = new Map(requests);
  assert.deepEqual((sent.get('POST /api/v1/persistentvolumes') as PersistentVolume).spec, {
    accessModes: ['ReadOnlyMany'],
    capacity: { storage: '1Gi' },
    claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'db-mount0', uid: 'claim-2' },
    hostPath: { path: folder, type: 'Directory' },
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName: '',
    volumeMode: 'Filesystem',
  });
  const { domain, volumes } = (sent.get(`POST ${VMS}`) as VirtualMachine).spec.template.spec;
  assert.deepEqual(domain.devices.filesystems, [{ name: 'mount0', virtiofs: {} }]);
  assert.deepEqual(volumes?.at(-1), { name: 'mount0', persistentVolumeClaim: { claimName: 'db-mount0', readOnly: true } });
  const userData = volumes?.find(({ cloudInitNoCloud }) => cloudInitNoCloud)?.cloudInitNoCloud?.userDataBase64 ?? '';
  assert.match(
    Buffer.from(userData, 'base64').toString(),
    /^ {2}- mkdir -p \/work && echo 'mount0 \/work virtiofs ro,nofail 0 0' >> \/etc\/fstab && mount \/work$/m,
  );
});

test('no other cluster than that of the data folder gets a folder of this machine', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'shared-')));
  t.after(() => rmSync(folder, { recursive: true }));
  const flags = { ...FLAGS, mount: [`${folder}:/work`] };
  const other = testDeps({ 'GET /version': { gitCommit: 'abc' } }, { home });
  await assert.rejects(run(other.deps, flags, 'tiny'), { code: 'FOLDER_NOT_SHAREABLE', fix: /scp/ });
  await assert.rejects(run(testDeps({}, { home }).deps, { ...flags, dryRun: true }, 'tiny'), { code: 'USAGE' });
  assert.deepEqual(other.requests, []);
});

test('a name of the catalogue brings its size, its user, and the key of virtctl shell; without a name it is the demo guest', async () => {
  const { metadata, spec, userData } = await manifestOf({});
  const publicKey = /ssh-ed25519 \S+ virtctl/.exec(userData ?? '')?.[0];
  assert.equal(publicKey, (await ensureSshKey(home)).publicKey);
  const annotations = { 'kubevirt.io/login-user': 'root' };
  assert.deepEqual([metadata.annotations, spec.template.metadata.annotations], [annotations, annotations]);
  const { domain, volumes } = spec.template.spec;
  assert.deepEqual([volumes[0].containerDisk.image, domain.memory.guest], ['localhost/guests/tiny:latest', '128Mi']);
});

test('a disk from an address of the catalogue is brought into the store, and its user gets sudo', async (t) => {
  const server = await startFileServer(t, Buffer.alloc(4096, 'disk'));
  const entry = {
    sources: { amd64: { url: `${server.origin}/web.img` }, arm64: { url: `${server.origin}/web.img` } },
    user: 'admin',
    memory: '300Mi',
  };
  writeFileSync(join(home, 'catalogue.json'), JSON.stringify({ images: { 'web:2': entry } }));
  t.after(() => rmSync(join(home, 'catalogue.json')));
  const { deps, stdout, stderr } = testDeps({}, { home, cache: home, clock: systemClock });
  await run(deps, { ...ATTENDED, name: 'db', ephemeral: true, detach: true, dryRun: true, output: 'json', sshKey: keyFile() }, 'web:2');
  const { spec } = JSON.parse(stdout());
  const [root, cloudInit] = spec.template.spec.volumes;
  assert.match(root.containerDisk.image, /^localhost\/catalogue\/web:2-[0-9a-f]{20}$/);
  assert.ok(openImageStore(join(home, 'images')).resolve(root.containerDisk.image));
  assert.match(stderr(), /! image +localhost\/catalogue\/web:2-.*it is not checked/);
  assert.equal(
    Buffer.from(cloudInit.cloudInitNoCloud.userDataBase64, 'base64').toString(),
    '#cloud-config\nuser:\n  name: "admin"\n  sudo: "ALL=(ALL) NOPASSWD:ALL"\nssh_authorized_keys:\n  - "ssh-ed25519 AAAA me"\n',
  );
});

test('a file is brought in once, is taken to obey cloud-init, and that is said', async () => {
  writeFileSync(join(home, 'My_Disk.raw'), Buffer.alloc(1024, 'disk'));
  const first = await manifestOf({}, './My_Disk.raw');
  assert.match(first.spec.template.spec.volumes[0].containerDisk.image, /^localhost\/imported\/my-disk:[0-9a-f]{20}$/);
  assert.match(first.said, /assuming that it supports cloud-init, with the user virt; --user names another/);
  assert.deepEqual((await manifestOf({}, 'My_Disk.raw')).spec.template.spec.volumes[0], first.spec.template.spec.volumes[0]);
});

test('a disk that nobody gave a size has room for its image', async () => {
  writeFileSync(join(home, 'large.qcow2'), qcow2Start({ sizeBytes: 40 * 2 ** 30 + 1 }));
  const sizeWith = async (flags: object) => {
    const { deps, stdout } = testDeps({}, { home, workingFolder: home });
    await run(deps, { ...ATTENDED, name: 'db', ephemeral: false, detach: true, dryRun: true, output: 'json', ...flags }, 'large.qcow2');
    return JSON.parse(stdout()).items[0].spec.resources.requests.storage;
  };
  assert.deepEqual([await sizeWith({}), await sizeWith({ disk: '5Gi' })], ['41Gi', '5Gi']);
});

test('images of others are told nothing, unless somebody asks for it', async () => {
  assert.deepEqual(
    [(await manifestOf({}, 'oci://quay.io/team/disk:1')).userData, (await manifestOf({}, 'cirros')).userData],
    [undefined, undefined],
  );
  assert.match((await manifestOf({ user: 'bob' }, 'quay.io/team/disk:1')).userData ?? '', /name: "bob"/);
  await assert.rejects(manifestOf({ user: 'bob' }, 'cirros'), { code: 'USAGE', fix: /log in as cirros and gocubsgo/ });
  await assert.rejects(manifestOf({ user: 'Bob B' }), { code: 'USAGE' });
  await assert.rejects(manifestOf({ cloudInit: keyFile(), sshKey: keyFile() }), { code: 'USAGE' });
  assert.equal((await manifestOf({ cloudInit: keyFile() })).userData, readFileSync(keyFile(), 'utf8'));
});

test('a name that is taken is said before anything is downloaded', async (t) => {
  const server = ownCluster(t);
  const { deps, requests } = testDeps({ ...VERSION, [`GET ${VMS}/db`]: vm('Always') }, { home, cache: home, server });
  await assert.rejects(run(deps, FLAGS, 'http://127.0.0.1:1/nothing.img'), { reason: 'AlreadyExists' });
  assert.equal(requests.at(-1)?.[0], `GET ${VMS}/db`);
});

test('an image of this machine that is not there is refused before a machine waits for it', async (t) => {
  const server = ownCluster(t);
  const { deps, requests } = testDeps(VERSION, { home, server });
  await assert.rejects(run(deps, FLAGS, 'agent'), {
    code: 'IMAGE_MISSING',
    message: 'there is no image localhost/guests/agent:latest on this machine',
    exitCode: 3,
  });
  assert.ok(!requests.some(([request]) => request.startsWith('POST')));
});

test('on another cluster a disk of this machine is refused with the way there, and a registry is left to the nodes', async () => {
  writeFileSync(join(home, 'disk.raw'), Buffer.alloc(1024, 'disk'));
  const real = testDeps({ 'GET /version': { gitCommit: 'abc' }, [`POST ${VMS}`]: vm('Always') }, { home, workingFolder: home });
  const flags = { ...FLAGS, ephemeral: true };
  await assert.rejects(run(real.deps, flags, './disk.raw'), {
    code: 'IMAGE_NOT_IN_REGISTRY',
    fix: /image push \.\/disk\.raw/,
    exitCode: 4,
  });
  await run(real.deps, flags, 'quay.io/team/disk:1');
  assert.equal(real.stdout(), 'db\n');
  const embeddedOfAnother = testDeps(VERSION, { home, workingFolder: home });
  await assert.rejects(run(embeddedOfAnother.deps, flags, './disk.raw'), { code: 'IMAGE_NOT_IN_REGISTRY' });
});

test('a word that nobody knows is told with what is near', async () => {
  await assert.rejects(manifestOf({}, 'debain'), { code: 'IMAGE_UNKNOWN', why: /there is debian/, exitCode: 3 });
  await assert.rejects(manifestOf({}, 'debian:99'), { code: 'IMAGE_UNKNOWN', why: /there is debian, debian:12, debian:13/ });
  await assert.rejects(manifestOf({}, './nowhere.img'), { code: 'FILE_MISSING', exitCode: 3 });
  await assert.rejects(manifestOf({}, 'tiny', 'x'), { code: 'USAGE' });
});

function keyFile(): string {
  writeFileSync(join(home, 'key.pub'), 'ssh-ed25519 AAAA me\n');
  return join(home, 'key.pub');
}
