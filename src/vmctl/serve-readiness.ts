/** Answers the kubelet's questions: whether we live, and whether connections to this Pod reach a machine. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** The port of /healthz and /readyz, on the Pod's address. */
const READINESS_PORT = 10_258;

/** Resolves when it listens. `whyNotReady` gives undefined when the Pod is ready. */
export async function serveReadiness(address: string, whyNotReady: () => string | undefined, port = READINESS_PORT): Promise<Server> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path !== '/readyz' && path !== '/healthz') {
      response.writeHead(404).end('not found\n');
      return;
    }
    const why = path === '/readyz' ? whyNotReady() : undefined;
    response.writeHead(why === undefined ? 200 : 503, { 'content-type': 'text/plain' }).end(`${why ?? 'ok'}\n`);
  });
  server.listen(port, address);
  await once(server, 'listening');
  return server;
}
