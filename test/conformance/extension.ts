/** A server of somebody else's, with TLS, behind a Service: a webhook that can be told what to say, and an aggregated API that repeats what it hears. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isObject } from '../../src/base/json.ts';
import type { Cluster } from './cluster.ts';

/** The name in the certificate that it serves with. */
const NAMESPACE = 'kubevirt';
const NAME = 'virt-api';

type Review = { readonly uid: string; readonly dryRun: boolean };

export class Extension implements AsyncDisposable {
  readonly reviews: Review[] = [];
  readonly #cluster: Cluster;
  readonly #server: Server;
  #denial: string | undefined;

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
    // webhooks are asked without a certificate, aggregated servers with the one of the front proxy
    const tls = { ...cluster.pki.virtApi, ca: cluster.pki.frontProxyCa, requestCert: true, rejectUnauthorized: false };
    this.#server = createServer(tls, async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      response.setHeader('content-type', 'application/json');
      const { 'x-remote-group': groups } = request.headersDistinct;
      const answer = request.method === 'POST' ? this.#review(body) : { ...request.headers, 'x-remote-group': groups };
      response.end(JSON.stringify(answer));
    });
  }

  static async start(cluster: Cluster): Promise<Extension> {
    const extension = new Extension(cluster);
    extension.#server.listen(0, '127.0.0.1');
    await once(extension.#server, 'listening');
    try {
      await extension.#publish();
    } catch (error) {
      await extension.stop();
      throw error;
    }
    return extension;
  }

  deny(why: string): void {
    this.#denial = why;
  }

  allow(): void {
    this.#denial = undefined;
  }

  /** Asks to be asked about ConfigMaps. */
  validates(part: object): Promise<string> {
    const webhook = {
      name: 'x.example.com',
      clientConfig: { service: { namespace: NAMESPACE, name: NAME, path: '/review' }, caBundle: this.#caBundle },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      objectSelector: { matchExpressions: [{ key: 'free', operator: 'Exists' }] },
      timeoutSeconds: 5,
      ...part,
    };
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'x' },
      webhooks: [webhook],
    };
    return this.#apply('webhook.json', configuration);
  }

  /** Becomes the server of a group; resolves when it is asked. */
  async serves(group: string, version: string): Promise<void> {
    const spec = {
      group,
      version,
      groupPriorityMinimum: 1000,
      versionPriority: 10,
      caBundle: this.#caBundle,
      service: { namespace: NAMESPACE, name: NAME },
    };
    const apiService = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: `${version}.${group}` }, spec };
    await this.#apply('api-service.json', apiService);
    await this.#cluster.must(['wait', `apiservice/${version}.${group}`, '--for=condition=Available', '--timeout=30s']);
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    const made = ['validatingwebhookconfiguration/x', 'apiservice/v1.demo.io', `service/${NAME}`, `endpointslice/${NAME}`];
    for (const each of made) await this.#cluster.mustAsCurrent(['delete', each, '-n', NAMESPACE, '--ignore-not-found']);
  }

  get #caBundle(): string {
    return Buffer.from(this.#cluster.pki.kubevirtCa).toString('base64');
  }

  #publish(): Promise<string> {
    const { port } = this.#server.address() as AddressInfo;
    const metadata = { name: NAME, namespace: NAMESPACE };
    return this.#apply(
      'extension.json',
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ name: 'https', port: 443 }] } },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { ...metadata, labels: { 'kubernetes.io/service-name': NAME } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
        ports: [{ name: 'https', port, protocol: 'TCP' }],
      },
    );
  }

  #apply(file: string, ...objects: object[]): Promise<string> {
    return this.#cluster.mustAsCurrent(['apply', '-f', this.#cluster.file(file, ...objects)]);
  }

  #review(body: string): object {
    const { request } = JSON.parse(body) as { request: Review };
    if (!isObject(request)) throw new Error('a review without a request');
    this.reviews.push(request);
    const verdict = this.#denial === undefined ? { allowed: true } : { allowed: false, status: { message: this.#denial } };
    return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: { uid: request.uid, ...verdict } };
  }
}
