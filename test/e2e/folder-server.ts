/**
 * A web server with the files of a folder, for a process of its own, maybe in the network of somebody else: `folder-server.ts FOLDER PORT`. It says the
 * port when it listens: with 0 for PORT one that is free.
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';

const [folder = '', port = ''] = process.argv.slice(2);

const server = createServer(({ url = '' }, response) => {
  const path = join(folder, basename(url));
  if (!existsSync(path)) return response.writeHead(404).end();
  response.writeHead(200, { 'content-length': statSync(path).size });
  createReadStream(path).pipe(response);
});
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  console.log(`ready at ${typeof address === 'object' ? address?.port : address}`);
});
