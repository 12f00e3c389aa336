import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProof, newNonce, prove, tokenID } from './proof.ts';

const token = 'secret-token';
const challenge = { project: 'p_1', extension: 'nonce-e', server: 'nonce-s' };
const serverMAC = 'Q_Aq6srTiH2sKCSPZAuvvBIP2ItSWyJ6JS1CBeJrtEQ';

test('proofs and the public name of a token are those of other implementations', async () => {
  assert.equal(await prove(token, 'server', challenge), serverMAC);
  assert.equal(
    await prove(token, 'extension', challenge),
    'A30ZacdQfEJg9tXjvwwapUahqWT9IWysVkd4QSclB-E',
  );
  assert.equal(await tokenID(token), 'abc847688f88e21e');
});

test('only the very proof of that side, token, project and nonces is accepted', async () => {
  assert.equal(await isProof(token, 'server', challenge, serverMAC), true);
  assert.equal(await isProof(token, 'extension', challenge, serverMAC), false);
  assert.equal(await isProof('another', 'server', challenge, serverMAC), false);
  assert.equal(await isProof(token, 'server', { ...challenge, project: 'p_2' }, serverMAC), false);
  assert.equal(await isProof(token, 'server', { ...challenge, server: 'n' }, serverMAC), false);
  assert.equal(await isProof(token, 'server', challenge, serverMAC.slice(1)), false);
  assert.equal(await isProof(token, 'server', challenge, '***'), false);
});

test('nonces are 32 bytes and never the same', () => {
  assert.equal(Buffer.from(newNonce(), 'base64url').length, 32);
  assert.notEqual(newNonce(), newNonce());
});
