/** A real HTTPS webhook server, a real API server that asks it, and ways to make it answer. */
import type { KubeObject } from '../../../api/meta.ts';
import { systemClock } from '../../../base/clock.ts';
import { silentLogger } from '../../../base/log.ts';
import { startWebServer } from '../../../base/node/web-server.ts';
import { temporaryStore } from '../../store/temporary-store.testing.ts';
import { createApiServer } from '../create-api-server.ts';
import { temporaryPki } from '../transport/tls.testing.ts';
import { createAdmission } from './create-admission.ts';
import type { Webhook } from './webhook.ts';

type Review = {
  readonly uid: string;
  readonly operation: string;
  readonly name: string;
  readonly resource: { readonly version: string; readonly resource: string };
  readonly requestResource: { readonly version: string };
  readonly subResource?: string;
  readonly userInfo: { readonly username: string };
  readonly object: KubeObject | null;
  readonly oldObject: KubeObject | null;
  readonly dryRun: boolean;
};
type Answer = {
  readonly allowed: boolean;
  readonly status?: object;
  readonly patch?: readonly object[];
  readonly warnings?: readonly string[];
};

const ALWAYS = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['configmaps'] };

export async function startWebhookWorld() {
  const { pki, remove } = await temporaryPki();
  const { store, close } = temporaryStore();
  const asked: { path: string; review: Review }[] = [];
  const answers = new Map<string, (review: Review) => Answer | Promise<Answer> | Response>();
  let isReachable = true;
  const webhookServer = await startWebServer({
    serving: pki.virtApi,
    clientCa: pki.frontProxyCa,
    host: '127.0.0.1',
    port: 0,
    log: silentLogger,
    async handle(request) {
      const path = new URL(request.url).pathname.slice(1);
      const { request: review } = (await request.json()) as { request: Review };
      asked.push({ path, review });
      const answer: Answer | Response = (await answers.get(path)?.(review)) ?? { allowed: true };
      if (answer instanceof Response) return answer;
      const { patch, ...rest } = answer;
      const encoded = patch && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
      return Response.json({
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        response: { uid: review.uid, ...rest, ...encoded },
      });
    },
  });
  const admission = createAdmission({
    store,
    resolveService: async (namespace, name) =>
      isReachable && namespace === 'kubevirt' && name === 'virt-api' ? { host: '127.0.0.1', port: webhookServer.port } : undefined,
    exemptUsers: ['system:apiserver'],
    log: silentLogger,
  });
  const server = await createApiServer({ store, clock: systemClock, log: silentLogger, hooks: { admission } });
  const identity = { user: 'ada', groups: ['system:masters', 'system:authenticated'] };

  const send = (method: string, path: string, body?: unknown, contentType = 'application/json') =>
    server.handle(
      new Request(new URL(path, 'https://k'), {
        method,
        headers: { 'content-type': contentType },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
      identity,
    );

  return {
    asked,
    answers,
    send,
    pki,
    reachable: (value: boolean) => {
      isReachable = value;
    },
    /** Stores a configuration of one webhook per given part, named a.example.com, b.example.com, ... */
    async configure(kind: 'Mutating' | 'Validating', ...parts: Partial<Webhook>[]) {
      const webhooks = parts.map((part, index) => {
        const letter = String.fromCharCode(97 + index);
        return {
          name: `${letter}.example.com`,
          clientConfig: {
            service: { namespace: 'kubevirt', name: 'virt-api', path: `/${letter}` },
            caBundle: Buffer.from(pki.kubevirtCa).toString('base64'),
          },
          rules: [ALWAYS],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          ...part,
        };
      });
      const body = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: `${kind}WebhookConfiguration`,
        metadata: { name: 'test' },
        webhooks,
      };
      const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`;
      const response = await send('POST', path, body);
      if (response.status !== 201) throw new Error(await response.text());
    },
    /** Forgets configurations, answers and questions. */
    async reset() {
      for (const kind of ['mutating', 'validating'])
        await send('DELETE', `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`);
      await send('DELETE', '/api/v1/namespaces/default/configmaps');
      answers.clear();
      asked.length = 0;
      isReachable = true;
    },
    async close() {
      admission.close();
      server.close();
      await webhookServer.close();
      close();
      await remove();
    },
  };
}
