import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Children } from './children.ts';
import { fields, member } from './parse.ts';

const attached = (sessionId: string, type = 'iframe', waitingForDebugger = false) => ({
  sessionId,
  waitingForDebugger,
  targetInfo: { targetId: `target ${sessionId}`, type, url: `https://${sessionId}.org/` },
});

/** A tab with a frame, a frame in that one, and a worker. */
function family(): Children {
  const children = new Children();
  children.apply('', 'Target.attachedToTarget', attached('A'));
  children.apply('A', 'Target.attachedToTarget', attached('B'));
  children.apply('', 'Target.attachedToTarget', attached('W', 'worker', true));
  return children;
}

const wait = (params: object | undefined) => member(fields(params), 'waitForDebuggerOnStart');
const names = (children: Children) => children.all.map(({ session }) => session);

test('children are known in the order in which they came', () => {
  assert.deepEqual(names(family()), ['A', 'B', 'W']);
});

test('what is below a child that goes, goes with it', () => {
  const children = family();
  children.apply('', 'Target.detachedFromTarget', { sessionId: 'A' });
  assert.deepEqual(names(children), ['W']);
});

test('a child that moves is known at its new address', () => {
  const children = family();
  const targetInfo = { targetId: 'target B', url: 'https://elsewhere.org/' };
  children.apply('', 'Target.targetInfoChanged', { targetInfo });
  assert.deepEqual(
    children.all.map(({ url }) => url),
    ['https://A.org/', 'https://elsewhere.org/', 'https://W.org/'],
  );
  const told = fields(member(children.get('B')?.params, 'targetInfo'));
  assert.equal(member(told, 'url'), 'https://elsewhere.org/');
});

test('a frame that navigates is known at its new address, the frames in it are not', () => {
  const children = family();
  const navigate = (id: string) =>
    children.apply('A', 'Page.frameNavigated', { frame: { id, url: 'https://elsewhere.org/' } });
  navigate('another');
  assert.equal(children.get('A')?.url, 'https://A.org/');
  navigate('target A');
  assert.equal(children.get('A')?.url, 'https://elsewhere.org/');
});

test('a child waits until it is told to run', () => {
  const children = family();
  assert.deepEqual(
    children.waiting.map(({ session }) => session),
    ['W'],
  );
  children.resumed('W');
  assert.deepEqual(children.waiting, []);
});

test('children are asked for once, whoever wants them', () => {
  const children = new Children();
  assert.notEqual(children.ask(''), undefined);
  assert.equal(children.ask(''), undefined);
  assert.equal(children.ask('', false), undefined);
});

test('programs want frames alone, clients all but service workers', () => {
  const children = new Children();
  assert.deepEqual(member(fields(children.ask('')), 'filter'), [{ type: 'iframe' }]);
  children.hold(true);
  const filter = JSON.stringify(member(fields(children.attaching('')), 'filter'));
  assert.match(filter, /"service_worker","exclude":true/);
});

test('children wait where a client asked for it, and only there', () => {
  const children = family();
  assert.deepEqual(children.hold(true), ['', 'A', 'B', 'W']);
  assert.equal(wait(children.ask('', true)), true);
  assert.equal(wait(children.ask('A')), false);
  assert.equal(children.ask('', true), undefined);
  assert.equal(wait(children.ask('', false)), false);
});

test('nothing waits any more once no client is there', () => {
  const children = family();
  children.hold(true);
  children.ask('', true);
  children.ask('A', true);
  assert.deepEqual(children.hold(false), ['', 'A']);
  for (const session of ['', 'A']) assert.equal(wait(children.attaching(session)), false);
  children.hold(true);
  assert.equal(wait(children.attaching('')), false, 'what an earlier client asked is forgotten');
});

test('without clients no child is asked to wait', () => {
  assert.equal(wait(new Children().ask('', true)), false);
});
