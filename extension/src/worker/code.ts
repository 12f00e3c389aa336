import { fields, json, text } from './parse.ts';

/** What a connection code says. `server` is an origin. */
export type Connection = { server: string; token: string; project: string; name: string };

export type Read<T> = { value: T } | { problem: string };

const prefix = 'chaperone1.';

/** Reads a pasted connection code; a problem is told in words for the person who pasted it. */
export function readCode(pasted: string): Read<Connection> {
  const code = pasted.replace(/\s+/g, '');
  if (code === '') return { problem: 'Paste the connection code first.' };
  if (!code.startsWith(prefix)) {
    return { problem: `This is not a connection code: it should begin with “${prefix}”.` };
  }
  const content = fields(json(decode(code.slice(prefix.length))));
  const token = text(content, 'token');
  const project = text(content, 'project');
  const address = text(content, 'server');
  if (!token || !project || !address) {
    return { problem: 'This connection code is incomplete. Copy all of it and paste it again.' };
  }
  const server = readServer(address);
  if ('problem' in server) return server;
  return {
    value: { server: server.value, token, project, name: text(content, 'name') || project },
  };
}

/** The address the link is dialled at. */
export function linkAddress(server: string): string {
  return `${server.replace(/^http/, 'ws')}/api/browser/extension/connect`;
}

/** Whether a host name, without port, can only be this machine. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  );
}

function readServer(address: string): Read<string> {
  const url = parseURL(/^https?:\/\//.test(address) ? address : `http://${address}`);
  if (url === undefined || url.username !== '' || url.password !== '') {
    return { problem: 'This connection code names no server that can be reached.' };
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return {
      problem: 'This server would be reached without encryption. It needs an https address.',
    };
  }
  return { value: url.origin };
}

function parseURL(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}

function decode(encoded: string): string {
  try {
    const bytes = atob(encoded.replace(/-/g, '+').replace(/_/g, '/'));
    return new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
  } catch {
    return '';
  }
}
