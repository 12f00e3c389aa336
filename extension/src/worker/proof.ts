/**
 * The two sides' proofs that they hold the pairing token (docs/relay.md, Opening). The token itself never crosses
 * the link.
 */

export type Side = 'server' | 'extension';

/** Both nonces and the project, which a proof binds together. */
export type Challenge = { project: string; extension: string; server: string };

export function newNonce(): string {
  return encode(crypto.getRandomValues(new Uint8Array(32)));
}

/** The token's public name: 16 hex digits. */
export async function tokenID(token: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes(`chaperone-token-id:${token}`));
  return Array.from(new Uint8Array(digest).slice(0, 8), (b) =>
    b.toString(16).padStart(2, '0'),
  ).join('');
}

export async function prove(token: string, side: Side, challenge: Challenge): Promise<string> {
  const key = await importKey(token);
  return encode(new Uint8Array(await crypto.subtle.sign('HMAC', key, spoken(side, challenge))));
}

/** Whether mac is side's proof; compared in constant time. */
export async function isProof(
  token: string,
  side: Side,
  challenge: Challenge,
  mac: string,
): Promise<boolean> {
  const signature = decode(mac);
  if (signature === undefined) return false;
  return crypto.subtle.verify('HMAC', await importKey(token), signature, spoken(side, challenge));
}

function spoken(side: Side, challenge: Challenge): Uint8Array<ArrayBuffer> {
  return bytes(
    ['chaperone-link-1', side, challenge.project, challenge.extension, challenge.server].join('|'),
  );
}

function importKey(token: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes(token), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);
}

function bytes(words: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(words));
}

function encode(raw: Uint8Array): string {
  return btoa(String.fromCharCode(...raw))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
}

function decode(encoded: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(encoded.replace(/-/g, '+').replace(/_/g, '/')), (c) =>
      c.charCodeAt(0),
    );
  } catch {
    return undefined;
  }
}
