/** Whoever is not asked about on a cluster is let pass where the server asks in any case (ADR 34). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Component, KindRecord } from '../../api/kind.ts';
import { userNameOf } from '../../api/kubevirt/component-accounts.ts';
import { KINDS } from '../../api/kubevirt/kinds-table.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { createClient } from '../../client/client.ts';
import { fixedConfiguration } from '../../testing/fixed-configuration.ts';
import { answerReview } from './answer-review.ts';

const client = createClient({ fetch: async () => Response.json({ items: [] }), baseUrl: 'https://cluster', userAgent: 'test' });

/** The answer to an update of status and finalizers, of an object whose spec nobody would take today. */
async function answerTo(kind: KindRecord, verb: 'validate' | 'mutate', component: Component): Promise<unknown> {
  const oldObject = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name: 'x' }, spec: { domain: 1 } };
  const object = { ...oldObject, metadata: { name: 'x', finalizers: ['a/b'] }, status: { phase: 'Running' } };
  const userInfo = { username: userNameOf(component) };
  const body = JSON.stringify({ kind: 'AdmissionReview', request: { uid: '1', operation: 'UPDATE', userInfo, object, oldObject } });
  const path = `/${verb}/${kind.plural}`;
  const answer = await answerReview(new Request(`https://virt-api${path}`, { method: 'POST', body }), path, {
    client,
    clock: systemClock,
    configuration: fixedConfiguration(),
    presets: { in: async () => [] },
    log: silentLogger,
  });
  return ((await answer.json()) as { response: unknown }).response;
}

for (const kind of KINDS as readonly KindRecord[])
  for (const verb of ['validate', 'mutate'] as const)
    for (const component of kind.admission?.[verb]?.exceptUpdatesBy ?? [])
      test(`${verb} ${kind.kind}: an update by ${component} passes as it is`, async () => {
        const allowed = { uid: '1', allowed: true };
        assert.deepEqual(await answerTo(kind, verb, component), verb === 'validate' ? { ...allowed, warnings: [] } : allowed);
      });
