import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkAddress, readCode } from './code.ts';

function codeOf(content: unknown): string {
  return `chaperone1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;
}

const whole = { server: 'http://127.0.0.1:7788', token: 'secret', project: 'p_1', name: 'Ünder' };

test('a whole code is read, with line breaks a mail put into it', () => {
  const code = codeOf(whole);
  assert.deepEqual(readCode(` ${code.slice(0, 30)}\n${code.slice(30)} `), { value: whole });
});

const problems: Record<string, [string, RegExp]> = {
  nothing: ['  ', /Paste the connection code/],
  'another text': ['https://example.com', /not a connection code/],
  'a later version': ['chaperone2.e30', /not a connection code/],
  'no base64': ['chaperone1.***', /incomplete/],
  'no JSON': ['chaperone1.e30x', /incomplete/],
  'a code cut short': [codeOf(whole).slice(0, -12), /incomplete/],
  'a code without token': [codeOf({ ...whole, token: '' }), /incomplete/],
  'a server that is no address': [codeOf({ ...whole, server: 'http://' }), /names no server/],
  'a server with a password in it': [
    codeOf({ ...whole, server: 'https://a:b@x.org' }),
    /names no server/,
  ],
  'a remote server without encryption': [
    codeOf({ ...whole, server: 'http://x.org' }),
    /encryption/,
  ],
  'a name that only looks local': [
    codeOf({ ...whole, server: 'http://127.0.0.1.x.org' }),
    /encryption/,
  ],
  'a file': [codeOf({ ...whole, server: 'file:///x' }), /encryption|names no server/],
};

for (const [sentence, [code, words]] of Object.entries(problems)) {
  test(`${sentence} is refused in words`, () => {
    const read = readCode(code);
    assert.ok('problem' in read);
    assert.match(read.problem, words);
  });
}

test('the link is dialled encrypted where the server is', () => {
  assert.equal(linkAddress('https://x.org'), 'wss://x.org/api/browser/extension/connect');
  assert.equal(linkAddress('http://localhost:1'), 'ws://localhost:1/api/browser/extension/connect');
});
