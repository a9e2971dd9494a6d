// SPDX-License-Identifier: Apache-2.0
// A server of the modern era, written with the public SDK. With "reject" as its argument it serves
// no client that opens with `initialize`.
import { McpServer, fromJsonSchema } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const text = (value) => ({ content: [{ type: 'text', text: value }] });

const object = (properties) =>
  fromJsonSchema({ type: 'object', properties, required: Object.keys(properties) });

function makeServer() {
  const server = new McpServer({ name: 'modern', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Gives the message back', inputSchema: object({ message: { type: 'string' } }) },
    ({ message }) => text(`Echo: ${message}`),
  );
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: object({ a: { type: 'number' }, b: { type: 'number' } }),
    },
    ({ a, b }) => text(`${a + b}`),
  );
  return server;
}

serveStdio(makeServer, { legacy: process.argv[2] === 'reject' ? 'reject' : 'serve' });
