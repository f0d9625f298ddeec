/** What somebody gets who makes Pods in a namespace, has taken over a launcher or a virt-handler, or has had a right: nothing beyond it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { SECRETS, type Secret } from '../../../src/api/core/secret.ts';
import { VIRT_HANDLER_CLIENT_NAME, VIRT_HANDLER_SERVER_NAME } from '../../../src/base/node/pki.ts';
import type { KeyPair } from '../../../src/base/node/pki-files.ts';
import { issueLeaf } from '../../../src/base/node/pki-issue.ts';
import { openWebSocket } from '../../../src/client/node/websocket.ts';
import { BUSYBOX_IMAGE } from '../../../tools/kubernetes/image-store.ts';
import { doWithToken, handlerToken } from './with-token.ts';
import { eventually, type World } from './world.ts';

const HOUR_MS = 3_600_000;
/** A stream is looked at every five seconds; a busy machine gets some more. */
const SECONDS_MS = 30_000;
const STREAMS = '/apis/subresources.kubevirt.io/v1/namespaces/attacks/virtualmachineinstances/target';
const HARMLESS = {
  securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  // None is ever started: no node has this label.
  nodeSelector: { 'attacks.test/none': 'true' },
};

export function attackScenarios(shared: World): void {
  const world = shared.in('attacks');
  const system = shared.in('kubevirt');
  const doneBy = (asked: Promise<string>) => asked.then(() => 'taken').catch(({ stderr }: { stderr: string }) => stderr);
  const tokenOf = (account: string) => world.kubectl('create', 'token', account);

  /** Unless it says something else, one that anybody may make. */
  const pod = (name: string, metadata: object = {}, env: readonly object[] = []) => {
    const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const container = { name: 'main', image: BUSYBOX_IMAGE, env, securityContext };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'attacks', ...metadata },
      spec: { ...HARMLESS, containers: [container] },
    };
  };

  describe('attacks', () => {
    before(async () => {
      await world.makeNamespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
      await world.apply(world.machine('target'));
      await world.kubectl('create', 'serviceaccount', 'eve');
      await world.kubectl('create', 'rolebinding', 'eve', '--clusterrole=edit', '--serviceaccount=attacks:eve');
      await world.until('vm/target', '.status.printableStatus', 'Running');
    });
    after(() => shared.kubectl('delete', 'namespace', 'attacks', '--timeout=400s'));

    test('a Pod that claims to be a launcher is refused to everybody but virt-controller, by whatever it claims it', async () => {
      const { uid } = (await world.vmi('target')).metadata;
      const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'target', uid };
      const forged = {
        label: pod('forged', { labels: { 'kubevirt.io': 'virt-launcher' } }),
        'created-by': pod('forged', { labels: { 'kubevirt.io/created-by': uid } }),
        owner: pod('forged', { ownerReferences: [{ ...owner, controller: true }] }),
        'another version of its owner': pod('forged', {
          ownerReferences: [{ ...owner, apiVersion: 'kubevirt.io/v1alpha3', controller: true }],
        }),
        'the label of one that attaches a volume': pod('forged', { labels: { 'kubevirt.io': 'hotplug-disk' } }),
        'an export as its owner': pod('forged', {
          ownerReferences: [{ ...owner, apiVersion: 'export.kubevirt.io/v1beta1', kind: 'VirtualMachineExport', controller: true }],
        }),
        variable: pod('forged', {}, [{ name: 'KUBEVIRT_VMI', value: '{}' }]),
      };
      for (const [by, object] of Object.entries(forged))
        assert.match(await doneBy(world.apply(object).then(() => '')), /launcher and importer Pods are made by virt-controller alone/, by);

      await world.apply(pod('plain', { ownerReferences: [owner], labels: { app: 'mine' } }));
      assert.match(await doneBy(world.kubectl('label', 'pod/plain', 'kubevirt.io=virt-launcher')), /made by virt-controller alone/);
      const claim = { metadata: { ownerReferences: [{ ...owner, controller: true }] } };
      const claimed = world.kubectl('patch', 'pod/plain', '--type=merge', '-p', JSON.stringify(claim));
      assert.match(await doneBy(claimed), /made by virt-controller alone/);
      assert.equal(await doneBy(world.kubectl('label', 'pod/plain', 'app=yours', '--overwrite')), 'taken');
      const launcher = (await world.launcherOf('target')).metadata.name;
      assert.equal(await doneBy(world.kubectl('label', `pod/${launcher}`, 'app=seen')), 'taken');
    });

    test('nor does a Deployment get one made', async () => {
      const labels = { app: 'forged', 'kubevirt.io': 'virt-launcher' };
      const { spec } = pod('forged');
      await world.apply({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'forged', namespace: 'attacks' },
        spec: { selector: { matchLabels: { app: 'forged' } }, template: { metadata: { labels }, spec } },
      });
      const why = '.status.conditions[?(@.type=="ReplicaFailure")].message';
      await eventually(async () =>
        assert.match(
          await world.kubectl('get', 'deployment/forged', '-o', `jsonpath={${why}}`),
          /launcher and importer Pods are made by virt-controller alone/,
        ),
      );
      assert.deepEqual(await world.pods('app=forged'), []);
    });

    test('a stolen token of a virt-handler makes no Pods, reads no Secrets, and enters no Pod', async () => {
      const { nodeName } = (await world.vmi('target')).status ?? {};
      const [handler] = (await system.pods('kubevirt.io=virt-handler')).filter(({ spec }) => spec.nodeName === nodeName);
      const token = await handlerToken(system, handler?.metadata.name);
      const launcher = (await world.launcherOf('target')).metadata.name;
      await world.kubectl('create', 'secret', 'generic', 'private', '--from-literal=a=b');
      const attempts: readonly (readonly string[])[] = [
        ['run', 'mine', '-n', 'attacks', `--image=${BUSYBOX_IMAGE}`],
        ['get', 'secret', 'private', '-n', 'attacks'],
        ['get', 'secrets', '-A'],
        ['get', 'secret', 'kubevirt-ca', '-n', 'kubevirt'],
        ['exec', launcher, '-n', 'attacks', '--', 'id'],
        ['create', 'token', 'default', '-n', 'attacks'],
        ['create', 'token', 'kubevirt-controller', '-n', 'kubevirt'],
        ['get', '--raw', `/api/v1/nodes/${nodeName}/proxy/pods`],
        ['delete', 'node', nodeName ?? ''],
        ['patch', 'vm', 'target', '-n', 'attacks', '--type=merge', '-p', '{"spec":{"runStrategy":"Halted"}}'],
        ['delete', 'vmi', 'target', '-n', 'attacks'],
        ['get', '--raw', `${STREAMS}/vnc/screenshot`],
        ['create', 'clusterrolebinding', 'mine', '--clusterrole=cluster-admin', '--user=mine'],
        ['delete', 'validatingadmissionpolicy', 'kubevirt-launcher-pods'],
      ];
      for (const attempt of attempts) assert.match(await doWithToken(world, token, ...attempt), /[Ff]orbidden/, attempt.join(' '));
    });

    test('a token of its account that names no node writes nothing', async () => {
      const { nodeName = '' } = (await world.vmi('target')).status ?? {};
      const token = await handlerToken(system);
      const patch = JSON.stringify({ metadata: { annotations: { 'kubevirt.io/test': 'seen' } } });
      const launcher = (await world.launcherOf('target')).metadata.name;
      for (const attempt of [
        ['patch', 'node', nodeName, '--type=merge', '-p', patch],
        ['patch', 'vmi', 'target', '-n', 'attacks', '--type=merge', '-p', patch],
        ['delete', 'pod', launcher, '-n', 'attacks', '--dry-run=server'],
      ])
        assert.match(await doWithToken(world, token, ...attempt), /the token of a virt-handler has to name its node/, attempt.join(' '));
    });

    test('who has taken over a launcher holds no token and no capability, and nobody answers it', async () => {
      const launcher = await world.launcherOf('target');
      const inside = (...command: string[]) => world.kubectl('exec', launcher.metadata.name, '-c', 'compute', '--', ...command);
      assert.equal(await inside('id', '-u'), '107');
      const status = await inside('cat', '/proc/1/status');
      assert.deepEqual(
        status.match(/^(CapPrm|CapEff|CapInh|CapAmb|NoNewPrivs|Seccomp):\s*(\w+)$/gm)?.map((line) => line.split(/\s+/)),
        [
          ['CapInh:', '0000000000000000'],
          ['CapPrm:', '0000000000000000'],
          ['CapEff:', '0000000000000000'],
          ['CapAmb:', '0000000000000000'],
          ['NoNewPrivs:', '1'],
          ['Seccomp:', '2'],
        ],
      );
      assert.equal(await doneBy(inside('ls', '/var/run/secrets/kubernetes.io')).then((said) => /No such file/.test(said)), true);
      assert.equal(await doneBy(inside('ls', '/var/lib/kubelet')).then((said) => /No such file/.test(said)), true);
      assert.doesNotMatch(await inside('cat', '/proc/self/mounts'), /kubelet|docker\.sock|containerd\.sock|serviceaccount/);

      const [handler] = (await system.pods('kubevirt.io=virt-handler')).filter(({ spec }) => spec.nodeName === launcher.spec.nodeName);
      const virtApi = await system.kubectl('get', 'service/virt-api', '-o', 'jsonpath={.spec.clusterIP}');
      const doors = {
        handler: `https://${handler?.status?.podIP}:8186/v1/namespaces/attacks/virtualmachineinstances/target/usage`,
        'virt-api': `https://${virtApi}${STREAMS}/vnc/screenshot`,
        kubernetes: 'https://$KUBERNETES_SERVICE_HOST/api/v1/namespaces/attacks/secrets',
      };
      for (const [door, url] of Object.entries(doors)) {
        const script = `fetch(process.argv[1]).then((r) => console.log(r.status), (e) => console.log(e.cause?.code ?? e.message))`;
        const said = await inside('sh', '-c', `NODE_TLS_REJECT_UNAUTHORIZED=0 node --no-warnings -e '${script}' "${url}"`);
        assert.match(said, /^(401|403|ERR_SSL_\w+|ECONNRESET|UND_ERR_SOCKET)$/, `${door}: ${said}`);
      }
    });

    test('the webhooks of virt-api, which Kubernetes calls without a certificate, tell nobody a name, and take no body that is too much', async () => {
      const [api] = await system.pods('kubevirt.io=virt-api');
      const at = (path: string) => ({ host: api?.status?.podIP ?? '', port: 8443, method: 'POST', path });
      const bodies: readonly (readonly [body: string, headers: object, status: string])[] = [
        ['', {}, '400'],
        ['{"kind":"Pod"}', {}, '400'],
        ['x'.repeat(1_000), { 'content-encoding': 'gzip' }, '400'],
        ['['.repeat(200_000), {}, '400'],
        [' '.repeat(16 * 2 ** 20 + 1), {}, '413'],
      ];
      for (const path of [
        '/validate/virtualmachines',
        '/mutate/virtualmachines',
        '/validate/evictions',
        '/validate/customresourcedefinitions',
      ])
        for (const [body, headers, status] of bodies) {
          const said = await answerAt({ ...at(path), headers: { 'content-type': 'application/json', ...headers } }, body);
          assert.match(said, new RegExp(`^${status} `), `${path}: ${body.slice(0, 20)}: ${said.slice(0, 200)}`);
        }
      const deletion = (name: string) =>
        JSON.stringify({ kind: 'AdmissionReview', request: { uid: '1', operation: 'DELETE', name, oldObject: { metadata: { name } } } });
      const said = await answerAt(at('/validate/customresourcedefinitions'), deletion('virtualmachines.kubevirt.io'));
      assert.match(said, /^200 .*"allowed":false/);
      assert.doesNotMatch(said, /attacks|target/);
    });

    test('of all components virt-handler alone would not be taken where only restricted Pods may run', async () => {
      const label = ['label', 'namespace', 'kubevirt', 'pod-security.kubernetes.io/enforce=restricted', '--overwrite', '--dry-run=server'];
      const { stderr } = await promisify(execFile)(join(world.cluster.programs, 'kubectl'), label, {
        env: { ...process.env, KUBECONFIG: world.cluster.kubeconfig },
      });
      const violations = stderr.split('\n').filter((line) => /^Warning: [^ ]+( \(and \d+ other pods?\))?: /.test(line));
      assert.deepEqual(
        violations.map((line) => /^Warning: (virt-\w+)/.exec(line)?.[1]),
        ['virt-handler'],
        stderr,
      );
      assert.match(stderr, /existing pods in namespace "kubevirt" violate/);
    });

    test('a console and a screen are closed within seconds when the right to them is taken away', async () => {
      const { cert: _cert, key: _key, ...cluster } = world.cluster.cluster;
      const asEve = { ...cluster, token: await tokenOf('eve') };
      const open = (path: string) => openWebSocket({ cluster: asEve, path, protocols: ['plain.kubevirt.io'] });
      const sockets = await Promise.all([open(`${STREAMS}/console?shared=true`), open(`${STREAMS}/vnc?shared=true`)]);
      for (const socket of sockets) socket.on('message', () => {});
      const closed = Promise.all(sockets.map((socket) => once(socket, 'close', { signal: AbortSignal.timeout(SECONDS_MS) })));
      await world.kubectl('delete', 'rolebinding', 'eve');
      await closed;
      await assert.rejects(open(`${STREAMS}/console`), { code: 403 });
    });

    test('a certificate that has run out opens neither virt-handler nor virt-api, whose one that has not opens both', async () => {
      const [handler] = await system.pods('kubevirt.io=virt-handler');
      const [api] = await system.pods('kubevirt.io=virt-api');
      const now = Date.now();
      const lives = {
        good: { notBeforeMs: now - HOUR_MS, notAfterMs: now + HOUR_MS },
        over: { notBeforeMs: now - 2 * HOUR_MS, notAfterMs: now - HOUR_MS },
      };
      const doors = [
        {
          authority: pairOf(await world.cluster.client.get(SECRETS, { namespace: 'kubevirt', name: 'kubevirt-ca' })),
          commonName: VIRT_HANDLER_CLIENT_NAME,
          servername: VIRT_HANDLER_SERVER_NAME,
          host: handler?.status?.podIP ?? '',
          port: 8186,
          path: '/v1/namespaces/attacks/virtualmachineinstances/none/usage',
        },
        {
          authority: fileOf(join(world.cluster.folder, 'pki', 'fp-ca')),
          commonName: 'front-proxy-client',
          servername: 'virt-api.kubevirt.svc',
          host: api?.status?.podIP ?? '',
          port: 8443,
          path: `${STREAMS}/guestosinfo`,
        },
      ];
      for (const { authority, commonName, ...door } of doors) {
        const said = async (life: keyof typeof lives) =>
          statusAt({ ...door, ...(await issueLeaf(authority, { use: 'client', subject: { commonName } }, lives[life])) });
        assert.match(await said('good'), /^(403|404)$/, `${commonName}, good`);
        assert.match(await said('over'), /^(401|ERR_SSL_\w+|ECONNRESET)$/, `${commonName}, over`);
      }
    });
  });
}

function pairOf(secret: Secret | undefined): KeyPair {
  const text = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
  return { cert: text('tls.crt'), key: text('tls.key') };
}

function fileOf(path: string): KeyPair {
  return { cert: readFileSync(`${path}.crt`, 'utf8'), key: readFileSync(`${path}.key`, 'utf8') };
}

/** The status of an answer, or why there is none. */
async function statusAt(options: object): Promise<string> {
  const [status = ''] = (await answerAt({ ...options, headers: { 'x-remote-user': 'nobody' } })).split(' ');
  return status;
}

/** The status and the body of an answer, or why there is none. */
function answerAt(options: object, body = ''): Promise<string> {
  return new Promise((resolve) => {
    const asked = request({ ...options, rejectUnauthorized: false, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('close', () => resolve(`${answer.statusCode} ${text}`));
    });
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end(body);
  });
}
