/**
 * A web server with one disk, for a process of its own in the network of an embedded cluster: `disk-server.ts FILE ADDRESS [PORT]`. It gives half of
 * the disk and waits for a line on its input; from then on it gives all that is asked for. It prints the range of each request.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [path = '', address = '', port = '80'] = process.argv.slice(2);
const content = readFileSync(path);
const released = new Promise((resolve) => process.stdin.once('data', resolve));

const server = createServer(async ({ headers: { range = 'all' } }, response) => {
  console.log(`asked for ${range}`);
  const from = Number(/^bytes=(\d+)-/.exec(range)?.[1] ?? 0);
  const status = from > 0 ? { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': content.length - from, etag: '"one"', ...status });
  const half = Math.max(from, Math.floor(content.length / 2));
  response.write(content.subarray(from, half));
  await released;
  response.end(content.subarray(half));
});
server.listen(Number(port), address, () => console.log('ready'));
