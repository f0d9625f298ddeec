/** A web server with the files of a folder, for a process of its own in the network of somebody else: `folder-server.ts FOLDER PORT`. */
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
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
