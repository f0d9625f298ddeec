/**
 * What the help of kubectl gives as examples, command by command: what people type first. Each verb has a namespace of its own, and its
 * commands are given in order. Images are names only: Pods run on a node without processes.  `exec`, `cp`,
 * `logs`, `top`, `attach`, `debug` and `port-forward` need containers: examples-of-containers.test.ts and streams.test.ts have them.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Cluster } from './cluster.ts';
import { describeWithEachKubectl } from './each-kubectl.ts';

type Example = readonly [
  command: string,
  prints: RegExp,
  more?: {
    readonly input?: object;
    readonly since?: readonly [version: string, what: string];
    /** What only the kubectl of the newest Kubernetes has: test/kubernetes/newest-kubectl.test.ts. */
    readonly newest?: string;
    readonly code?: number;
  },
];

/** Examples that are not given here, and why. */
const NOT_GIVEN: Readonly<Record<string, string>> = {
  'create -f registry.yaml --edit -o json': 'asks for an editor; kubectl.test.ts has edits',
  'run -i -t busybox --image=busybox --restart=Never': 'needs a container; attach.test.ts has it',
};

const container = (image: string) => ({ containers: [{ name: 'main', image }] });
const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } }, spec: container('nginx') });
const deployment = (name: string, image = 'nginx', replicas = 1) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: container(image) } },
});
const statefulSet = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: container('nginx') },
  },
});
/** On one node: those of other examples stand still. */
const daemonSet = (name: string, node: string) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { ...container('nginx'), affinity: { nodeAffinity: only(node) } } },
  },
});
const only = (node: string) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
  },
});
const replicas = (kind: 'ReplicaSet' | 'ReplicationController', name: string) => ({
  apiVersion: kind === 'ReplicaSet' ? 'apps/v1' : 'v1',
  kind,
  metadata: { name },
  spec: {
    replicas: 1,
    selector: kind === 'ReplicaSet' ? { matchLabels: { app: name } } : { app: name },
    template: { metadata: { labels: { app: name } }, spec: container('nginx') },
  },
});
const list = (...items: object[]) => ({ apiVersion: 'v1', kind: 'List', items });
const map = (name: string, data: object, labels?: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels && { labels }) },
  data,
});

const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  create: [
    ['create -f -', /^pod\/one created$/m, { input: pod('one') }],
    ['create -f FILE', /^pod\/two created$/m, { input: pod('two') }],
    ['create clusterrole pod-reader --verb=get,list,watch --resource=pods', /pod-reader created/],
    ['create clusterrole two-pods --verb=get --resource=pods --resource-name=readablepod --resource-name=anotherpod', /created/],
    ['create clusterrole of-group --verb=get,list,watch --resource=replicasets.apps', /created/],
    ['create clusterrole with-status --verb=get,list,watch --resource=pods,pods/status', /created/],
    ['create clusterrole of-urls --verb=get --non-resource-url=/logs/*', /created/],
    ['create clusterrole monitoring --aggregation-rule=rbac.example.com/aggregate-to-monitoring=true', /created/],
    ['create clusterrolebinding admins --clusterrole=cluster-admin --user=user1 --user=user2 --group=group1', /created/],
    ['create configmap literals --from-literal=key1=config1 --from-literal=key2=config2', /configmap\/literals created/],
    ['create configmap of-folder --from-file=PATH/bar', /created/],
    ['create configmap of-files --from-file=key1=PATH/bar/file1.txt --from-file=key2=PATH/bar/file2.txt', /created/],
    ['get configmap of-folder of-files -o jsonpath={.items[*].data}', /"file1.txt":"one".*"key2":"two"/],
    [
      'create configmap of-variables --from-env-file=PATH/foo.env --from-env-file=PATH/bar.env',
      /created/,
      { since: ['1.23', 'several files of variables'] },
    ],
    [
      'create cronjob minutely --image=busybox --schedule="*/1 * * * *"',
      /cronjob.batch\/minutely created/,
      { since: ['1.21', 'batch/v1 for CronJobs'] },
    ],
    ['create cronjob dated --image=busybox --schedule="*/1 * * * *" -- date', /created/, { since: ['1.21', 'batch/v1 for CronJobs'] }],
    ['create deployment my-dep --image=busybox', /deployment.apps\/my-dep created/],
    ['create deployment commanded --image=busybox -- date', /created/],
    ['create deployment of-three --image=nginx --replicas=3', /created/],
    ['create deployment ported --image=busybox --port=5701', /created/],
    [
      'create deployment several --image=busybox:latest --image=ubuntu:latest --image=nginx',
      /created/,
      { since: ['1.21', 'several images'] },
    ],
    ['create ingress simple --rule=foo.com/bar=svc1:8080,tls=my-cert', /ingress.networking.k8s.io\/simple created/],
    ['create ingress catch-all --class=otheringress --rule=/path=svc:port', /created/],
    [
      'create ingress annotated --class=default --rule=foo.com/bar=svc:port --annotation ingress.annotation1=foo --annotation ingress.annotation2=bla',
      /created/,
    ],
    ['create ingress multipath --class=default --rule=foo.com/=svc:port --rule=foo.com/admin/=svcadmin:portadmin', /created/],
    ['create ingress ingress1 --class=default --rule=foo.com/path*=svc:8080 --rule=bar.com/admin*=svc2:http', /created/],
    ['create ingress ingtls --class=default --rule=foo.com/=svc:https,tls --rule=foo.com/path/subpath*=othersvc:8080', /created/],
    ['create ingress ingsecret --class=default --rule=foo.com/*=svc:8080,tls=secret1', /created/],
    ['create ingress ingdefault --class=default --default-backend=defaultsvc:http --rule=foo.com/*=svc:8080,tls=secret1', /created/],
    ['create job my-job --image=busybox', /job.batch\/my-job created/],
    ['create job commanded --image=busybox -- date', /created/],
    ['create job from-cron --image=busybox --dry-run=server -o name', /job.batch\/from-cron/],
    ['create job by-hand --from=cronjob/minutely', /created/, { since: ['1.21', 'batch/v1 for CronJobs'] }],
    ['create namespace examples-made', /namespace\/examples-made created/],
    ['create poddisruptionbudget at-least-one --selector=app=rails --min-available=1', /created/, { since: ['1.21', 'policy/v1'] }],
    ['create pdb half --selector=app=nginx --min-available=50%', /created/, { since: ['1.21', 'policy/v1'] }],
    ['create priorityclass high-priority --value=1000 --description="high priority"', /created/],
    ['create priorityclass default-priority --value=1000 --global-default=true --description="default priority"', /created/],
    ['delete priorityclass default-priority', /deleted/],
    ['create priorityclass never-first --value=1000 --preemption-policy=Never', /created/],
    ['create quota my-quota --hard=cpu=1,memory=1G,pods=100,services=20,secrets=50,persistentvolumeclaims=10', /created/],
    ['create quota best-effort --hard=pods=100 --scopes=BestEffort', /created/],
    ['create role pod-reader --verb=get --verb=list --verb=watch --resource=pods', /created/],
    ['create role two-pods --verb=get --resource=pods --resource-name=readablepod --resource-name=anotherpod', /created/],
    ['create role of-group --verb=get,list,watch --resource=rs.apps', /created/],
    ['create role with-status --verb=get,list,watch --resource=pods,pods/status', /created/],
    ['create rolebinding admin --clusterrole=admin --user=user1 --user=user2 --group=group1', /created/],
    ['create rolebinding admin-binding --role=admin --serviceaccount=monitoring:sa-dev', /created/],
    ['create secret docker-registry my-registry --docker-username=u --docker-password=p --docker-email=e@example.com', /created/],
    [
      'create secret docker-registry my-server --docker-server=s --docker-username=u --docker-password=p --docker-email=e@example.com',
      /created/,
    ],
    ['create secret docker-registry of-file --from-file=.dockerconfigjson=PATH/config.json', /created/],
    ['create secret generic of-folder --from-file=PATH/bar', /created/],
    ['create secret generic keys --from-file=ssh-privatekey=PATH/id_rsa --from-file=ssh-publickey=PATH/id_rsa.pub', /created/],
    ['create secret generic phrased --from-file=ssh-privatekey=PATH/id_rsa --from-literal=passphrase=topsecret', /created/],
    [
      'create secret generic of-variables --from-env-file=PATH/foo.env --from-env-file=PATH/bar.env',
      /created/,
      { since: ['1.23', 'several files of variables'] },
    ],
    ['create secret tls tls-secret --cert=PATH/tls.crt --key=PATH/tls.key', /created/],
    ['create secret generic my-secret --from-literal=key1=supersecret --from-literal=key2=topsecret', /secret\/my-secret created/],
    ['create service clusterip my-cs --tcp=5678:8080', /service\/my-cs created/],
    ['create service clusterip headless --clusterip=None', /created/],
    ['create service externalname my-ns --external-name=bar.com', /created/],
    ['create service loadbalancer my-lbs --tcp=5678:8080', /created/],
    ['create service nodeport my-np --tcp=5678:8080', /created/],
    ['create serviceaccount my-service-account', /created/],
    ['create token my-service-account', /^[\w-]+\.[\w-]+\.[\w-]+$/m, { since: ['1.24', 'create token'] }],
    ['create token my-service-account --duration=10m', /\./, { since: ['1.24', 'create token'] }],
    ['create token my-service-account --audience https://example.com', /\./, { since: ['1.24', 'create token'] }],
    ['create token my-service-account --bound-object-kind Secret --bound-object-name my-secret', /\./, { since: ['1.24', 'create token'] }],
    [
      'create token my-service-account --bound-object-kind Secret --bound-object-name my-secret --bound-object-uid 0d4691ed-659b-4935-a832-355f77ee47cc',
      /0d4691ed-659b-4935-a832-355f77ee47cc/,
      { since: ['1.24', 'create token'], code: 1 },
    ],
    ['create -f - --edit=false -o json', /"kind": "ConfigMap"/, { input: map('as-json', {}) }],
    [
      'create quota whole --hard=cpu=1,memory=1G,pods=2,services=3,replicationcontrollers=2,resourcequotas=1,secrets=5,persistentvolumeclaims=10',
      /created/,
    ],
  ],
  run: [
    ['run nginx --image=nginx', /pod\/nginx created/],
    ['run hazelcast --image=hazelcast/hazelcast --port=5701', /created/],
    ['run variables --image=hazelcast/hazelcast --env=DNS_DOMAIN=cluster --env=POD_NAMESPACE=default', /created/],
    ['run labelled --image=hazelcast/hazelcast --labels=app=hazelcast,env=prod', /created/],
    ['run dry --image=nginx --dry-run=client', /pod\/dry created \(dry run\)/],
    ['run other --image=nginx --overrides={"apiVersion":"v1","spec":{"hostname":"h"}}', /created/],
    ['get pod other -o jsonpath={.spec.hostname}', /^h$/],
    ['run once --image=busybox --restart=Never', /created/],
    ['run arguments --image=nginx -- arg1 arg2', /created/],
    ['run commanded --image=nginx --command -- cmd arg1', /created/],
    [
      'get pod arguments commanded -o jsonpath={.items[*].spec.containers[0].args}{.items[*].spec.containers[0].command}',
      /\["arg1","arg2"\]\["cmd","arg1"\]/,
    ],
  ],
  expose: [
    ['create -f -', /created/, { input: deployment('nginx') }],
    ['expose deployment nginx --port=80 --target-port=8000', /service\/nginx exposed/],
    ['expose service nginx --port=443 --target-port=8443 --name=nginx-https', /service\/nginx-https exposed/],
    ['create -f -', /created/, { input: pod('valid-pod') }],
    ['expose pod valid-pod --port=444 --name=frontend', /service\/frontend exposed/],
    ['expose deployment nginx --port=4100 --protocol=UDP --name=video-stream', /exposed/],
    ['expose deployment nginx --port=80 --type=NodePort --name=outside', /exposed/],
    [
      'create -f -',
      /created/,
      {
        input: list(replicas('ReplicationController', 'streamer'), replicas('ReplicationController', 'old'), replicas('ReplicaSet', 'set')),
      },
    ],
    ['expose rc old --port=80 --target-port=8000', /service\/old exposed/],
    ['expose rc streamer --port=4100 --protocol=UDP --name=stream', /service\/stream exposed/],
    ['expose rs set --port=80 --target-port=8000', /service\/set exposed/],
    ['expose -f FILE --port=80 --target-port=8000 --name=of-file', /service\/of-file exposed/, { input: deployment('nginx') }],
    ['get service frontend -o jsonpath={.spec.selector.app}:{.spec.ports[0].port}', /^valid-pod:444$/],
  ],
  rollout: [
    ['create -f -', /created/, { input: deployment('def') }],
    ['create -f -', /created/, { input: deployment('abc') }],
    ['rollout status deployment/abc --timeout=60s', /deployment "abc" successfully rolled out/],
    ['set image deployment/abc main=nginx:2', /image updated/],
    ['rollout status deployment/abc --timeout=60s', /successfully rolled out/],
    ['rollout history deployment/abc', /REVISION/],
    ['rollout history deployment/abc --revision=1', /Image:\s+nginx$/m],
    ['rollout undo deployment/abc --dry-run=server', /rolled back/],
    ['rollout undo deployment/abc', /deployment.apps\/abc rolled back/],
    ['rollout undo deployment/abc --to-revision=2', /rolled back/],
    ['rollout pause deployment/abc', /deployment.apps\/abc paused/],
    ['rollout resume deployment/abc', /deployment.apps\/abc resumed/],
    ['rollout restart deployment/abc', /deployment.apps\/abc restarted/],
    ['create -f -', /created/, { input: daemonSet('foo', 'node-of-examples-rollout') }],
    ['rollout status daemonset/foo --timeout=60s', /daemon set "foo" successfully rolled out/],
    ['set image daemonset/foo main=nginx:2', /image updated/],
    ['rollout status daemonset/foo --timeout=60s', /successfully rolled out/],
    ['rollout history daemonset/foo --revision=2', /Image:\s+nginx:2$/m],
    ['rollout undo daemonset/foo --to-revision=1', /daemonset.apps\/foo rolled back/],
    ['rollout restart daemonset/foo', /daemonset.apps\/foo restarted/],
    ['rollout restart deployment --selector=app=def', /restarted/, { since: ['1.23', 'a selector for restarts'] }],
    ['rollout status deployment/abc --timeout=60s', /successfully rolled out/],
  ],
  scale: [
    ['create -f -', /created/, { input: deployment('mysql', 'mysql', 2) }],
    ['rollout status deployment/mysql --timeout=60s', /rolled out/],
    ['scale --replicas=3 deployment/mysql', /deployment.apps\/mysql scaled/],
    ['scale --current-replicas=2 --replicas=3 deployment/mysql', /Expected replicas to be 2, was 3/, { code: 1 }],
    ['scale --current-replicas=3 --replicas=2 deployment/mysql', /scaled/],
    ['scale --replicas=3 -f FILE', /scaled/, { input: deployment('mysql', 'mysql', 2) }],
    ['create -f -', /created/, { input: statefulSet('web') }],
    ['scale --replicas=3 statefulset/web', /statefulset.apps\/web scaled/],
    ['create -f -', /created/, { input: replicas('ReplicaSet', 'foo') }],
    ['scale --replicas=3 rs/foo', /replicaset.apps\/foo scaled/],
    [
      'create -f -',
      /created/,
      { input: list(...['example1', 'example2', 'example3'].map((name) => replicas('ReplicationController', name))) },
    ],
    ['scale --replicas=5 rc/example1 rc/example2 rc/example3', /example1 scaled[\s\S]*example2 scaled[\s\S]*example3 scaled/],
    ['scale --replicas=1 deployment/mysql statefulset/web', /mysql scaled[\s\S]*web scaled/],
  ],
  autoscale: [
    ['create -f -', /created/, { input: deployment('foo') }],
    ['autoscale deployment foo --min=2 --max=10', /horizontalpodautoscaler.autoscaling\/foo autoscaled/],
    ['get hpa foo -o jsonpath={.spec.minReplicas}:{.spec.maxReplicas}:{.spec.scaleTargetRef.name}', /^2:10:foo$/],
    ['rollout status deployment/foo --timeout=60s', /rolled out/],
    [
      'wait --for=jsonpath={.status.readyReplicas}=2 deployment/foo --timeout=60s',
      /condition met/,
      { since: ['1.23', 'waiting for fields'] },
    ],
    ['create -f -', /created/, { input: deployment('bar') }],
    ['autoscale deployment bar --max=5 --cpu-percent=80 --name=busy', /busy autoscaled/],
    ['get hpa busy -o jsonpath={.spec.maxReplicas}', /^5$/],
    ['create -f -', /created/, { input: replicas('ReplicationController', 'old') }],
    ['autoscale rc old --max=5 --cpu-percent=80', /old autoscaled/],
    ['autoscale deployment bar --name=amounts --min=3 --max=6 --cpu=500m --memory=200Mi', /autoscaled/, { newest: '1.34' }],
    ['autoscale deployment bar --name=shares --min=3 --max=6 --cpu=60% --memory=70%', /autoscaled/, { newest: '1.34' }],
    ['autoscale deployment none --max=5', /deployments.apps "none" not found/, { code: 1 }],
  ],
  apply: [
    ['apply -f -', /configmap\/a created/, { input: map('a', { x: '1' }, { app: 'nginx' }) }],
    ['apply -f -', /configmap\/a unchanged/, { input: map('a', { x: '1' }, { app: 'nginx' }) }],
    ['apply view-last-applied configmap/a', /x: "1"/],
    ['apply -f -', /configmap\/b created/, { input: map('b', {}, { app: 'nginx' }) }],
    [
      'apply --prune -f - -l app=nginx --prune-allowlist=core/v1/ConfigMap',
      /configmap\/a unchanged[\s\S]*configmap\/b pruned/,
      { since: ['1.26', '--prune-allowlist'], input: map('a', { x: '1' }, { app: 'nginx' }) },
    ],
    ['apply --server-side -f -', /configmap\/c serverside-applied/, { input: map('c', { x: '1' }) }],
    ['apply --server-side --field-manager=other -f -', /conflicts? with "kubectl"/, { input: map('c', { x: '2' }), code: 1 }],
    ['apply --server-side --field-manager=other --force-conflicts -f -', /serverside-applied/, { input: map('c', { x: '2' }) }],
    ['apply -f FILE', /configmap\/of-file created/, { input: map('of-file', { x: '1' }) }],
    ['apply -k PATH/kustomized', /configmap\/of-kustomization created/, { since: ['1.21', 'kustomize 4'] }],
    ['apply -f PATH/maps/*.json', /configmap\/m1 created[\s\S]*configmap\/m2 created/, { since: ['1.27', 'patterns of files'] }],
    ['apply view-last-applied -f PATH/maps/m1.json -o json', /"name": "m1"/, { since: ['1.27', 'patterns of files'] }],
    ['apply set-last-applied -f PATH/maps/m1.json', /configured|unchanged/, { since: ['1.27', 'patterns of files'] }],
    ['apply set-last-applied -f PATH/maps', /configured|unchanged/, { since: ['1.27', 'patterns of files'] }],
    ['create configmap plain', /created/],
    ['apply set-last-applied -f FILE --create-annotation=true', /configmap\/plain/, { input: map('plain', {}) }],
    [
      'apply --prune -f FILE -l app=nginx',
      /configmap\/a unchanged/,
      { since: ['1.25', 'a list of kinds to prune that are still served'], input: map('a', { x: '1' }, { app: 'nginx' }) },
    ],
    [
      'apply --prune -f FILE --all --prune-allowlist=core/v1/ConfigMap',
      /configmap\/a unchanged[\s\S]*pruned/,
      { since: ['1.26', '--prune-allowlist'], input: map('a', { x: '1' }, { app: 'nginx' }) },
    ],
    ['apply --dry-run=server -f -', /configmap\/d created \(server dry run\)/, { input: map('d', {}) }],
  ],
  diff: [
    ['apply -f -', /created/, { input: map('a', { x: 'old' }) }],
    ['diff -f -', /-\s+x: old[\s\S]*\+\s+x: new/, { input: map('a', { x: 'new' }), code: 1 }],
    ['diff -f FILE', /\+\s+x: new/, { input: map('a', { x: 'new' }), code: 1 }],
    ['diff -f -', /^$/, { input: map('a', { x: 'old' }) }],
    ['diff --server-side --force-conflicts -f -', /\+\s+x: new/, { input: map('a', { x: 'new' }), code: 1 }],
  ],
  wait: [
    ['create -f -', /created/, { input: pod('busybox1') }],
    ['wait --for=condition=Ready pod/busybox1 --timeout=60s', /pod\/busybox1 condition met/],
    ['wait --for=condition=Ready=true pod/busybox1 --timeout=60s', /condition met/],
    ['wait --for=jsonpath={.status.phase}=Running pod/busybox1 --timeout=60s', /condition met/, { since: ['1.23', 'waiting for fields'] }],
    [
      'wait --for=jsonpath={.status.conditions[?(@.type=="Ready")].status}=True pod/busybox1 --timeout=60s',
      /condition met/,
      { since: ['1.26', 'filters of lists'] },
    ],
    ['create service loadbalancer loadbalancer --tcp=80:8080', /created/],
    [
      'patch service loadbalancer --subresource=status --type=merge -p {"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}',
      /patched/,
      { since: ['1.24', '--subresource'] },
    ],
    [
      'wait --for=jsonpath={.status.loadBalancer.ingress} service/loadbalancer --timeout=60s',
      /condition met/,
      { since: ['1.31', 'waiting for any value'] },
    ],
    ['create secret generic busybox1', /created/],
    ['wait --for=create secret/busybox1 --timeout=30s', /condition met/, { since: ['1.31', 'waiting for creation'] }],
    ['wait --for=create pod/busybox1 --timeout=60s', /condition met/, { since: ['1.31', 'waiting for creation'] }],
    ['delete pod/busybox1 --wait=false', /deleted/],
    ['wait --for=delete pod/busybox1 --timeout=60s', /condition met|^$/, { since: ['1.22', 'success for what has gone before'] }],
    ['wait --for=condition=Ready pod/none --timeout=1s', /pods "none" not found/, { code: 1 }],
  ],
  drain: [
    ['create -f -', /created/, { input: deployment('web', 'nginx', 2) }],
    ['rollout status deployment/web --timeout=60s', /rolled out/],
    ['cordon node-of-examples-drain', /node\/node-of-examples-drain cordoned/],
    ['uncordon node-of-examples-drain', /uncordoned/],
    ['drain node-of-examples-drain --force', /drained/, { since: ['1.22', 'evictions of policy/v1'] }],
    ['uncordon node-of-examples-drain', /uncordoned/],
    ['drain node-of-examples-drain --grace-period=900', /drained/, { since: ['1.22', 'evictions of policy/v1'] }],
    ['uncordon node-of-examples-drain', /uncordoned/],
  ],
};

for (const [command, why] of Object.entries(NOT_GIVEN)) test(`kubectl ${command}`, { skip: why }, () => {});

describeWithEachKubectl(
  "examples of kubectl's help",
  ({ cluster, namespace, isDebian }) => {
    for (const [verb, examples] of Object.entries(EXAMPLES)) {
      test(`kubectl ${verb}`, async (t) => {
        const within = await namespace(`examples-${verb}`);
        await using _node = await cluster().node(`examples-${verb}`);
        const path = writeFiles(cluster());
        for (const [command, prints, { input, since, newest, code = 0 } = {}] of examples) {
          const skip =
            isDebian && since ? `kubectl has ${since[1]} since ${since[0]}` : newest !== undefined && whyNotNewest(newest, isDebian);
          await t.test(command, { skip }, async () => {
            const file = input && command.includes(' FILE') ? cluster().file(`${verb}.json`, input) : '';
            const args = words(command).map((word) => (word === 'FILE' ? file : word.replace('PATH/', `${path}/`)));
            const answer = await cluster().kubectl(within(...args), { ...(input && !file && { input: JSON.stringify(input) }) });
            const said = `${answer.stdout}${answer.stderr}`;
            assert.equal(answer.code, code, said);
            assert.match(said, prints);
          });
        }
      });
    }
  },
  { concurrency: 1 },
);

function whyNotNewest(version: string, isDebian: boolean): string | false {
  return isDebian || process.env['KUBECTL'] === undefined ? `kubectl has it since ${version}` : false;
}

/** What the examples call path/to/: files of every kind that a command is made from. */
function writeFiles({ folder, pki }: Cluster): string {
  const path = join(folder, 'path');
  const files: Record<string, string> = {
    'bar/file1.txt': 'one',
    'bar/file2.txt': 'two',
    'foo.env': 'FOO=1\n',
    'bar.env': 'BAR=2\n',
    id_rsa: 'private',
    'id_rsa.pub': 'public',
    'config.json': JSON.stringify({ auths: {} }),
    'tls.crt': pki.admin.cert,
    'tls.key': pki.admin.key,
    'maps/m1.json': JSON.stringify(map('m1', {})),
    'maps/m2.json': JSON.stringify(map('m2', {})),
    'kustomized/kustomization.yaml': 'resources: [map.json]\n',
    'kustomized/map.json': JSON.stringify(map('of-kustomization', {})),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

/** As a shell takes them apart: double quotes hold words together where they do not belong to JSON. */
function words(command: string): string[] {
  return [...command.matchAll(/(?:[^\s"{]|\{\S*\}|"[^"]*")+/g)].map(([word]) => (word.includes('{') ? word : word.replaceAll('"', '')));
}
