/** Which function answers which verb, for resources and for their subresources. */
import { ApiError } from '../../../base/errors.ts';
import { answerAccessReview } from '../access/access-reviews.ts';
import type { Verb } from '../request/path-grammar.ts';
import { methodNotAllowed, unknownPath } from '../response/api-errors.ts';
import type { Call } from '../server-parts.ts';
import { bind } from '../subresources/binding.ts';
import { evict } from '../subresources/eviction.ts';
import { log } from '../subresources/log.ts';
import { proxyService } from '../subresources/proxy-service.ts';
import { getScale, patchScale, updateScale } from '../subresources/scale.ts';
import { createToken } from '../subresources/token.ts';
import { create } from './create.ts';
import { deleteOne } from './delete.ts';
import { deleteCollection } from './delete-collection.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { update } from './update.ts';
import { watch } from './watch.ts';

type Answer = (call: Call) => Promise<Response>;

const VERBS: Readonly<Record<Verb, Answer>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};
const SUBRESOURCES: Readonly<Record<string, Partial<Record<Verb, Answer>>>> = {
  status: { get, update, patch },
  finalize: { update },
  scale: { get: getScale, update: updateScale, patch: patchScale },
  binding: { create: bind },
  eviction: { create: evict },
  token: { create: createToken },
  log: { get: log },
  proxy: { get: proxyService, create: proxyService, update: proxyService, patch: proxyService, delete: proxyService },
  exec: { get: needsUpgrade, create: needsUpgrade },
  attach: { get: needsUpgrade, create: needsUpgrade },
  portforward: { get: needsUpgrade, create: needsUpgrade },
};

/** The function for a call; unknown subresources are NotFound, verbs they do not have MethodNotAllowed. */
export function answerForVerb({ type, path }: Pick<Call, 'type' | 'path'>, verb: Verb): Answer {
  if (path.subresource !== undefined) {
    if (!type.subresources.includes(path.subresource)) throw unknownPath();
    const answer = SUBRESOURCES[path.subresource]?.[verb];
    if (!answer) throw methodNotAllowed();
    return answer;
  }
  if (!type.verbs.includes(verb)) throw methodNotAllowed();
  return type.verbs.length === 1 ? answerAccessReview : VERBS[verb];
}

async function needsUpgrade(): Promise<Response> {
  throw new ApiError('BadRequest', 'Upgrade request required');
}
