/** Starts a machine if it has to, and looks into its guest: script/node examples/typescript/visit.ts NAME */
import { connect, type KubeVirt } from '../../src/sdk/node/index.ts'; // 'kubevirt-ts' where the package is installed

export async function visit(kubevirt: KubeVirt, name: string, print: (line: string) => void, signal: AbortSignal): Promise<void> {
  const vm = kubevirt.vm(name);
  if (!(await vm.instance())) await vm.start();

  // Nothing is asked for in a circle: the cluster says when it is so, and the signal how long that may take.
  const { vmi } = await vm.waitFor('AgentConnected', { signal });
  print(`${name} runs on ${vmi?.status?.nodeName}`);

  // A program in the guest, through its agent.
  const { exitCode, stdout } = await vm.exec(['sh', '-c', 'uname -s; exit 3'], { signal });
  print(`exit ${exitCode}: ${stdout.trim()}`);

  // A connection to a port of the guest, as web streams; it is closed at the end of the block.
  await using web = await vm.connect(80, { signal });
  const writer = web.writable.getWriter();
  await writer.write(new TextEncoder().encode('GET / HTTP/1.0\r\n\r\n'));
  const answer = await new Response(web.readable).text();
  print(answer.split('\r\n')[0] ?? '');

  // Every machine, and everything that happens to one, until the loop is left.
  for await (const { type, object } of kubevirt.vms.follow({ namespace: vm.namespace, signal })) {
    print(`${type} ${object.metadata.name}: ${object.status?.printableStatus}`);
    if (object.metadata.name === name) break;
  }
}

if (import.meta.main) {
  const [name = 'hello'] = process.argv.slice(2);
  await visit(await connect(), name, console.log, AbortSignal.timeout(120_000));
}
