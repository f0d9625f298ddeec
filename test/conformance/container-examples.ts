/** What the help of kubectl gives as examples for verbs that need containers which run, in the order in which they are tried. */

export type Example = readonly [
  /** The line of the help; what is tried, where the two are not the same. */
  help: string,
  prints: RegExp,
  more?: {
    /** PATH is a folder of files, IMAGE an image with a shell, PORT1 and PORT2 are where the Pods listen, HERE is a port that is free here. */
    readonly command?: string;
    readonly since?: readonly [version: string, what: string];
    /** Why the newest kubectl cannot do it. */
    readonly newestCannot?: string;
    readonly code?: number;
    /** Typed at the first prompt, on a terminal. */
    readonly types?: string;
    /** It does not end by itself: once it has printed that, it is ended. */
    readonly goesOn?: true;
    /** Where a page of the Pod is found meanwhile. */
    readonly forwards?: readonly string[];
    /** It is for a shell. */
    readonly isPipe?: true;
  },
];

const EPHEMERAL = ['1.23', 'ephemeral containers as they are'] as const;
const SIX_TIMES_SEVEN = 'echo $((6 * 7)); exit\n';
/** It warns of a Pod that is not the one of the cluster, by a printer that it has not made. */
const NO_FILE = 'kubectl 1.34.4 panics in displayWarning, before it asks the server';
const MAYBE_LEGACY = /^(--profile=legacy is deprecated.*\n)?$/;

/** Examples that are not tried, and why. */
export const NOT_TRIED: Readonly<Record<string, string>> = {
  'debug node/mynode -it --image=busybox':
    'no container has the namespaces or files of the host; debug.test.ts has the reason that is given',
};

export const EXAMPLES: readonly Example[] = [
  ['logs nginx', /^one of main\ntwo of main$/m],
  ['logs nginx --prefix', /^\[pod\/nginx\/main\] one of main$/m],
  ['logs nginx --limit-bytes=500', /^one o$/, { command: 'logs nginx --limit-bytes=5' }],
  ['logs nginx --pod-running-timeout=20s', /two of main/],
  [
    'logs nginx --all-containers=true',
    /^(?=[\s\S]*one of ruby\ntwo of ruby)[\s\S]*one of side\ntwo of side/, // in any order: kubectl keeps a map
    { command: 'logs web-1 --all-containers=true' },
  ],
  ['logs deployment/nginx --all-pods=true', /one of main/, { since: ['1.32', '--all-pods'] }],
  ['logs -l app=nginx --all-containers=true', /one of main/],
  ['logs -l app=nginx --max-log-requests=10', /one of main/],
  ['logs -p -c ruby web-1', /one of it/, { command: 'logs -p -c main crashing' }],
  ['logs nginx -f --ignore-errors=true', /two of main/, { goesOn: true }],
  ['logs -f -c ruby web-1', /one of ruby\ntwo of ruby/, { goesOn: true }],
  ['logs -f -l app=nginx --all-containers=true', /two of main/, { goesOn: true }],
  ['logs --tail=20 nginx', /^two of main\n$/, { command: 'logs --tail=1 nginx' }],
  ['logs --since=1h nginx', /one of main/],
  ['logs nginx --since-time=2024-08-30T06:00:00Z --timestamps=true', /^\d{4}-\d\d-\d\dT\S+Z one of main$/m],
  ['logs --insecure-skip-tls-verify-backend nginx', /one of main/],
  ['logs job/hello', /hello from a job/],
  ['logs deployment/nginx -c nginx-1', /one of main/, { command: 'logs deployment/nginx -c main' }],
  ['', /container absent is not valid for pod web-1/, { command: 'logs web-1 -c absent', code: 1 }],
  ['exec mypod -- date', /20\d\d/, { command: 'exec nginx -- date' }],
  ['exec mypod -c ruby-container -- date', /20\d\d/, { command: 'exec web-1 -c side -- date' }],
  [
    'exec mypod -c ruby-container -i -t -- bash -il',
    /# [\s\S]*42/,
    { command: 'exec web-1 -c ruby -i -t -- sh -il', types: SIX_TIMES_SEVEN },
  ],
  ['exec mypod -i -t -- ls -t /usr', /busybox/, { command: 'exec nginx -i -t -- ls -t /bin', types: '' }],
  ['exec deploy/mydeployment -- date', /20\d\d/, { command: 'exec deploy/nginx -- date' }],
  ['exec svc/myservice -- date', /20\d\d/],
  [
    'tar cf - /tmp/foo | kubectl exec -i -n <some-namespace> <some-pod> -- tar xf - -C /tmp/bar',
    /^of the folder\n$/,
    {
      command:
        'kubectl exec nginx -- mkdir /tmp/piped && tar cf - -C PATH foo_dir | kubectl exec -i -n default nginx -- tar xf - -C /tmp/piped && kubectl exec nginx -- cat /tmp/piped/foo_dir/file',
      isPipe: true,
    },
  ],
  [
    'exec -n <some-namespace> <some-pod> -- tar cf - /tmp/foo | tar xf - -C /tmp/bar',
    /^of the folder\n$/,
    {
      command:
        'mkdir -p PATH/piped && kubectl exec -n default nginx -- tar cf - -C /tmp piped | tar xf - -C PATH/piped && cat PATH/piped/piped/foo_dir/file',
      isPipe: true,
    },
  ],
  ['cp /tmp/foo_dir <some-pod>:/tmp/bar_dir', /^$/, { command: 'cp PATH/foo_dir nginx:/tmp/bar_dir' }],
  ['', /^of the folder\n$/, { command: 'exec nginx -- cat /tmp/bar_dir/file' }],
  ['cp /tmp/foo <some-pod>:/tmp/bar -c <specific-container>', /^$/, { command: 'cp PATH/foo web-1:/tmp/bar -c side' }],
  ['', /^a file\n$/, { command: 'exec web-1 -c side -- cat /tmp/bar' }],
  ['cp /tmp/foo <some-namespace>/<some-pod>:/tmp/bar', /^$/, { command: 'cp PATH/foo default/nginx:/tmp/bar' }],
  [
    'cp <some-namespace>/<some-pod>:/tmp/foo /tmp/bar',
    /^a file\n$/m, // after what tar says about the slash
    { command: 'kubectl cp default/nginx:/tmp/bar PATH/back && cat PATH/back', isPipe: true },
  ],
  [
    'port-forward pod/mypod 5000 6000',
    /-> PORT2/,
    { command: 'port-forward pod/nginx PORT1 PORT2', forwards: ['127.0.0.1:PORT1', '127.0.0.1:PORT2'] },
  ],
  [
    'port-forward deployment/mydeployment 5000 6000',
    /-> PORT2/,
    { command: 'port-forward deployment/nginx PORT1 PORT2', forwards: ['127.0.0.1:PORT1', '127.0.0.1:PORT2'] },
  ],
  [
    'port-forward service/myservice 8443:https',
    /-> PORT1/,
    { command: 'port-forward service/myservice HERE:https', forwards: ['127.0.0.1:HERE'] },
  ],
  ['port-forward pod/mypod 8888:5000', /-> PORT1/, { command: 'port-forward pod/nginx HERE:PORT1', forwards: ['127.0.0.1:HERE'] }],
  [
    'port-forward --address 0.0.0.0 pod/mypod 8888:5000',
    /Forwarding from 0\.0\.0\.0:/,
    { command: 'port-forward --address 0.0.0.0 pod/nginx HERE:PORT1', forwards: ['127.0.0.3:HERE'] },
  ],
  [
    'port-forward --address localhost,10.19.21.23 pod/mypod 8888:5000',
    /Forwarding from 127\.0\.0\.2:/,
    { command: 'port-forward --address localhost,127.0.0.2 pod/nginx HERE:PORT1', forwards: ['127.0.0.1:HERE', '127.0.0.2:HERE'] },
  ],
  ['port-forward pod/mypod :5000', /Forwarding from 127\.0\.0\.1:\d+ -> PORT1/, { command: 'port-forward pod/nginx :PORT1', goesOn: true }],
  ['attach mypod', /tick/, { command: 'attach ticking', goesOn: true }],
  ['attach mypod -c ruby-container', /tick/, { command: 'attach ticking -c main', goesOn: true }],
  ['attach mypod -c ruby-container -i -t', /# [\s\S]*42/, { command: 'attach web-1 -c shell -i -t', types: SIX_TIMES_SEVEN }],
  ['attach rs/nginx', /tick/, { command: 'attach rs/ticker', goesOn: true }],
  ['top pod', /nginx +\d+m +\d+Mi/],
  ['top pod --namespace=NAMESPACE', /web-1 +\d+m/, { command: 'top pod --namespace=default' }],
  ['top pod POD_NAME --containers', /nginx +main +\d+m +\d+Mi/, { command: 'top pod nginx --containers' }],
  ['top pod -l name=myLabel', /nginx-\S+ +\d+m/, { command: 'top pod -l app=nginx' }],
  ['top node', /n1 +\d+m +\d+% +\d+Mi +\d+%/],
  ['top node NODE_NAME', /n1 +\d+m/, { command: 'top node n1' }],
  [
    'debug mypod -it --image=busybox',
    /# [\s\S]*42/,
    { command: 'debug nginx -it --image=IMAGE -c first -- sh', since: EPHEMERAL, types: SIX_TIMES_SEVEN },
  ],
  [
    'debug -f pod.yaml -it --image=busybox',
    /# [\s\S]*42/,
    {
      command: 'debug -f PATH/pod.yaml -it --image=IMAGE -c of-file -- sh',
      since: ['1.32', '-f of debug'],
      newestCannot: NO_FILE,
      types: SIX_TIMES_SEVEN,
    },
  ],
  [
    'debug --image=myproj/debug-tools -c debugger mypod',
    MAYBE_LEGACY,
    { command: 'debug --image=IMAGE -c debugger nginx', since: EPHEMERAL },
  ],
  ['', /^(?=.*\bfirst\b).*\bdebugger\b/, { command: 'get pod nginx -o jsonpath={.spec.ephemeralContainers[*].name}', since: EPHEMERAL }],
  [
    'debug mypod -it --image=busybox --copy-to=my-debugger',
    /# [\s\S]*42/,
    { command: 'debug nginx -it --image=IMAGE --copy-to=copy-1 --share-processes', types: SIX_TIMES_SEVEN },
  ],
  ['', /^true$/, { command: 'get pod copy-1 -o jsonpath={.spec.shareProcessNamespace}' }],
  [
    'debug mypod -it --copy-to=my-debugger --container=mycontainer -- sh',
    /# [\s\S]*42/,
    { command: 'debug nginx -it --copy-to=copy-2 --container=main -- sh', types: SIX_TIMES_SEVEN },
  ],
  [
    'debug mypod --copy-to=my-debugger --set-image=*=busybox',
    MAYBE_LEGACY,
    { command: 'debug nginx --copy-to=copy-3 --set-image=*=IMAGE' },
  ],
  ['', /condition met/, { command: 'wait --for=condition=Ready pod/copy-3 --timeout=30s' }],
  [
    'debug mypod -it --copy-to=my-debugger --image=debian --set-image=app=app:debug,sidecar=sidecar:debug',
    /# [\s\S]*42/,
    { command: 'debug web-1 -it --copy-to=copy-4 --image=IMAGE --set-image=ruby=IMAGE,side=IMAGE', types: SIX_TIMES_SEVEN },
  ],
];
