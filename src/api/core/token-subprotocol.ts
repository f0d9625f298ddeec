/** How browsers, which cannot set headers on a WebSocket, send a token: behind this, as base64url. */
export const TOKEN_SUBPROTOCOL = 'base64url.bearer.authorization.k8s.io.';
