// A small MCP client: JSON-RPC over a server's stdin and stdout, a line a message.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Starts an MCP server and opens the conversation. */
export async function start(args, options) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], ...options });
  const waiting = new Map();
  let ids = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method) return answer(message);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const write = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const answer = ({ id, method }) => {
    if (id === undefined) return;
    write(
      method === 'ping' ? { id, result: {} } : { id, error: { code: -32601, message: 'not here' } },
    );
  };
  const ask = (method, params) =>
    new Promise((done, failed) => {
      const id = ++ids;
      waiting.set(id, ({ result, error }) =>
        error ? failed(new Error(error.message)) : done(result),
      );
      write({ id, method, params });
    });
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'workshop', version: '1' },
  });
  write({ method: 'notifications/initialized' });
  return {
    ask,
    /** Calls a tool; gives its text, or its first picture when it has one. */
    async call(name, args = {}) {
      const { content, isError } = await ask('tools/call', { name, arguments: args });
      const text = content.map((c) => c.text ?? '').join('\n');
      if (isError) throw new Error(text);
      const picture = content.find((c) => c.type === 'image');
      return { text, picture: picture && Buffer.from(picture.data, 'base64') };
    },
    /** Ends the server as a host does: it closes its input. */
    end() {
      const ended = new Promise((done) => child.once('exit', (code) => done(code)));
      child.stdin.end();
      return ended;
    },
  };
}
