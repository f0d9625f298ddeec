/** From a message that came in to the message that goes out, or to silence. */
import type { ClusterNames } from './cluster-names.ts';
import { decideAnswer } from './decide-answer.ts';
import { type Answer, datagramBytes, encodeAnswer, encodeRefusal, parseQuery, RCODE, TYPE } from './message.ts';
import type { Upstream } from './upstream.ts';

export type Answering = { readonly names: ClusterNames; readonly upstream: Upstream };

const CLASS_IN = 1;
const TCP_BYTES = 65_535;
/** A name that stands for a name that stands for ...: so far and no further. */
const MAX_STEPS = 4;

export async function answerQuery(message: Buffer, by: 'udp' | 'tcp', answering: Answering): Promise<Buffer | undefined> {
  const query = parseQuery(message);
  if (!query) return undefined;
  if ('malformed' in query) return query.id === undefined ? undefined : encodeRefusal(query.id, RCODE.FORMERR);
  const { question, opcode } = query;
  const maxBytes = by === 'udp' ? datagramBytes(query) : TCP_BYTES;
  const refused = (rcode: number): Answer => ({ rcode, isAuthoritative: false, answers: [] });
  if (opcode !== 0 || question.type === TYPE.ANY) return encodeAnswer(query, refused(RCODE.NOTIMP), maxBytes); // ANY is what amplifiers are asked
  if (question.class !== CLASS_IN) return encodeAnswer(query, refused(RCODE.REFUSED), maxBytes);
  return encodeAnswer(query, await meaningOf(question, answering, MAX_STEPS), maxBytes);
}

async function meaningOf(asked: { name: string; type: number }, answering: Answering, steps: number): Promise<Answer> {
  const meaning = decideAnswer(asked, answering.names);
  if (meaning === 'upstream') return askUpstream(asked, answering);
  if (meaning.follow === undefined || steps === 0) return meaning.answer;
  const further = await meaningOf({ name: meaning.follow, type: asked.type }, answering, steps - 1);
  return { ...meaning.answer, rcode: further.rcode, answers: [...meaning.answer.answers, ...further.answers] };
}

async function askUpstream({ name, type }: { name: string; type: number }, { upstream }: Answering): Promise<Answer> {
  // What cannot be asked in our own words (a label with a dot in it) is not asked.
  const reply = name.includes('\\') ? undefined : await upstream({ name, type });
  if (!reply) return { rcode: RCODE.SERVFAIL, isAuthoritative: false, answers: [] };
  return { rcode: reply.rcode, isAuthoritative: false, answers: reply.records };
}
