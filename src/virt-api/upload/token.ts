/**
 * A token for one upload: good for one PVC, by its name and uid, and for some minutes. It is signed with a key that every virt-api of an
 * installation has and nobody else, made of that with which it shows who it is to virt-handler. Pure.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../base/errors.ts';

/** Whose PVC may be written to. */
export type UploadTarget = { readonly namespace: string; readonly name: string; readonly uid: string };

const LIFE_MS = 5 * 60 * 1000;
const MOST_LENGTH = 2_000;

/** The key of this installation. */
export function tokenKeyFrom(privateKeyPem: string): Buffer {
  return Buffer.from(hkdfSync('sha256', privateKeyPem, '', 'upload token', 32));
}

export function signToken(key: Buffer, { namespace, name, uid }: UploadTarget, now: number): string {
  const claims = Buffer.from(JSON.stringify({ namespace, name, uid, expiresAt: now + LIFE_MS })).toString('base64url');
  return `${claims}.${signatureOf(key, claims).toString('base64url')}`;
}

/** What a token is good for; Unauthorized for one that we did not make, or that is too old. */
export function readToken(key: Buffer, token: string, now: number): UploadTarget {
  const [claims = '', signature = '', ...more] = token.length > MOST_LENGTH ? [] : token.split('.');
  const [said, due] = [Buffer.from(signature, 'base64url'), signatureOf(key, claims)];
  if (more.length > 0 || said.length !== due.length || !timingSafeEqual(said, due))
    throw unauthorized('the token of the upload is not one of ours');
  const { expiresAt, ...target } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as UploadTarget & { expiresAt: number }; // as we have signed it
  if (expiresAt < now) throw unauthorized('the token of the upload has expired: ask for another one');
  return target;
}

function signatureOf(key: Buffer, claims: string): Buffer {
  return createHmac('sha256', key).update(claims).digest();
}

function unauthorized(message: string): ApiError {
  return new ApiError('Unauthorized', message);
}
