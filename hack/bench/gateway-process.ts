// The process whose CPU time is measured: a gateway over an API server in the same process, and a bare node:http server.
import {createServer} from 'node:http';
import {listen} from '../../src/http/listen.ts';
import {KEY, startGatewayFixture} from '../../test/support/gateway-fixture.ts';

const fixture = await startGatewayFixture();
fixture.addAgent('writer', ['self_session', 'ask']);
const {token} = fixture.addRunning('one', 'writer', {spec: {title: 'The measured one', goal: 'be read often'}});
for (let i = 0; i < 200; i++) fixture.addSession(`filler-${i}`, {title: `Filler ${i}`}, {phase: 'Idle'});
await fixture.settle();

/** Reads a JSON body and sends one of the size of an answer of the gateway: what no server in Node does without. */
const bare = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const asked: unknown = JSON.parse(Buffer.concat(chunks).toString());
  response.writeHead(200, {'content-type': 'application/json'});
  response.end(JSON.stringify({asked, text: 'x'.repeat(600)}));
});
const bareUrl = `http://127.0.0.1:${await listen(bare, 0, '127.0.0.1')}`;

process.on('message', () => {
  fixture.lines.length = 0;
  const {user, system} = process.cpuUsage();
  process.send?.({cpuSeconds: (user + system) / 1e6, heapMegabytes: process.memoryUsage().heapUsed / 1e6});
});
process.on('disconnect', () => process.exit(0));
process.send?.({gateway: fixture.url, bare: bareUrl, token, key: KEY});
