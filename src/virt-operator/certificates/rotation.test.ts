import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { ConfigMap } from '../../api/core/configmap.ts';
import type { Secret } from '../../api/core/secret.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { KubeObject } from '../../api/meta.ts';
import { CERTIFICATES } from '../render/options.ts';
import { ANNOTATION_ROTATE } from './certificate-names.ts';
import { keepCertificates } from './keep-certificates.ts';
import { certificatesIn, pairIn } from './observe.ts';

const SPREAD_MS = 180_000;
const START = Date.parse('2026-01-01T00:00:00Z');

/** A cluster that stores what it is given. */
class Stored {
  objects = new Map<string, KubeObject>();
  now = START;
  rotate: string | undefined;

  async look(): Promise<string[]> {
    const kubeVirt: KubeVirt = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      metadata: { name: 'kubevirt', annotations: this.rotate === undefined ? {} : { [ANNOTATION_ROTATE]: this.rotate } },
      spec: {},
    };
    const { objects } = (
      await keepCertificates({
        kubeVirt,
        namespace: 'kubevirt',
        secret: (name) => this.secret(name),
        bundle: this.bundle,
        spreadMs: SPREAD_MS,
        now: this.now,
      })
    ).certificates;
    const key = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`;
    const changed = objects.filter((each) => JSON.stringify(this.objects.get(key(each))) !== JSON.stringify(each));
    for (const each of changed) this.objects.set(key(each), each);
    return changed.map(key).sort();
  }
  secret(name: string): Secret | undefined {
    return this.objects.get(`Secret ${name}`) as Secret | undefined;
  }
  get bundle(): ConfigMap | undefined {
    return this.objects.get(`ConfigMap ${CERTIFICATES.authorities}`) as ConfigMap | undefined;
  }
  /** Whether everybody who trusts `trusted` takes what is shown now. */
  isShownTrusted(trusted: ConfigMap | undefined): boolean {
    const authorities = certificatesIn(trusted?.data?.[CERTIFICATES.authoritiesKey] ?? '').map((pem) => new X509Certificate(pem));
    return [CERTIFICATES.virtApi, CERTIFICATES.handlerServer, CERTIFICATES.handlerClient].every((name) => {
      const shown = new X509Certificate(pairIn(this.secret(name))?.cert ?? '');
      return authorities.some(({ publicKey }) => shown.verify(publicKey));
    });
  }
}

const LEAVES = [
  'Secret kubevirt-migration-client-certs',
  'Secret kubevirt-virt-api-certs',
  'Secret kubevirt-virt-handler-certs',
  'Secret kubevirt-virt-handler-server-certs',
];

test('a rotation goes its three steps, and between them nothing is made', async () => {
  const stored = new Stored();
  assert.deepEqual(await stored.look(), ['ConfigMap kubevirt-ca', 'Secret kubevirt-ca', ...LEAVES]);
  assert.deepEqual(await stored.look(), []);
  const before = stored.bundle;
  stored.rotate = 'now';
  assert.deepEqual(await stored.look(), ['ConfigMap kubevirt-ca', 'Secret kubevirt-ca']);
  assert.ok(stored.isShownTrusted(before) && stored.isShownTrusted(stored.bundle));
  const during = stored.bundle;
  stored.now += SPREAD_MS - 1000;
  assert.deepEqual(await stored.look(), []);
  stored.now += 1000;
  assert.deepEqual(await stored.look(), LEAVES);
  assert.ok(stored.isShownTrusted(during) && !stored.isShownTrusted(before));
  stored.now += SPREAD_MS;
  assert.deepEqual(await stored.look(), ['ConfigMap kubevirt-ca']);
  assert.ok(stored.isShownTrusted(stored.bundle));
  assert.deepEqual(await stored.look(), []);
});

test('in two weeks nobody is ever shown what it does not trust, however late it reads its files', async () => {
  const stored = new Stored();
  await stored.look();
  let late = stored.bundle;
  for (const end = START + 14 * 86_400_000; stored.now < end; stored.now += 4 * 3_600_000) {
    await stored.look();
    assert.ok(stored.isShownTrusted(late) && stored.isShownTrusted(stored.bundle), new Date(stored.now).toISOString());
    late = stored.bundle;
  }
});
