/** Base64 where there is no Buffer: what runs in a browser, too. A byte at a time, so that its length does not matter. */
export function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
}
