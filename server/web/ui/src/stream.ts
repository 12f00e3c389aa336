/** Server-sent events by fetch, because EventSource cannot send a bearer token. */
import { type Api, answer, refusal } from './api.ts';

export type Message = { id: string; event: string; data: string };

type Take = (message: Message) => void;

/** How long a lost stream waits before it is opened again. */
const pause = 2_000;

export type Following = {
  /** Where to begin; the stream goes on after the last message's id when it was lost. */
  after?: string;
  signal: AbortSignal;
  take: Take;
};

/** Follow a stream until the signal, its own end, or a refusal (which is thrown). A lost one is opened again. */
export async function follow(api: Api, path: string, wish: Following): Promise<void> {
  let last = wish.after ?? '';
  const take: Take = (message) => {
    last = message.id || last;
    wish.take(message);
  };
  while (!wish.signal.aborted) {
    const ended = await once(api, path, { ...wish, after: last, take });
    if (ended) {
      return;
    }
    await sleep(pause, wish.signal);
  }
}

/** True when the stream said that it is over; false when it was lost. */
async function once(api: Api, path: string, wish: Following): Promise<boolean> {
  try {
    const headers: Record<string, string> = wish.after ? { 'Last-Event-ID': wish.after } : {};
    const response = await api.open(path, { headers, signal: wish.signal });
    if (!response.ok || response.body === null) {
      await answer(response);
      return true;
    }
    return await read(response.body, wish.take);
  } catch (error) {
    if (error instanceof TypeError || wish.signal.aborted) {
      return false; // the network went, or we did
    }
    throw error;
  }
}

async function read(body: ReadableStream<BufferSource>, take: Take): Promise<boolean> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return false;
    }
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    if (hand(blocks.map(parse), take)) {
      return true;
    }
  }
}

/** Hand messages on; true when one says that the stream is over. */
function hand(messages: Message[], take: Take): boolean {
  for (const message of messages) {
    if (message.event === 'end') {
      return true;
    }
    if (message.event === 'error') {
      throw refusal(JSON.parse(message.data), 0);
    }
    if (message.data !== '') {
      take(message);
    }
  }
  return false;
}

/** One block of lines is one message; a comment is a message without data. */
export function parse(block: string): Message {
  const message = { id: '', event: '', data: '' };
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    const name = line.slice(0, colon);
    if (name === 'id' || name === 'event' || name === 'data') {
      message[name] = line.slice(colon + 2);
    }
  }
  return message;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
