import {createServer, type Server} from 'node:http';

/** What the kubelet and Prometheus ask. */
export interface HealthParts {
  /** Undefined when ready; otherwise why not. */
  ready(): Promise<string | undefined>;
  /** Metrics in the text format. */
  metrics(): Promise<string>;
}

/** `/healthz`: the event loop turns. `/readyz`: may be sent work. `/metrics`. Served on a port of its own, without credentials. */
export function createHealthServer(parts: HealthParts): Server {
  return createServer({requestTimeout: 10_000}, (request, response) => {
    const answer = (status: number, text: string) => {
      response.writeHead(status, {'content-type': 'text/plain; charset=utf-8'});
      response.end(text);
    };
    answerTo(request.url ?? '', parts).then(
      ([status, text]) => answer(status, text),
      (error: unknown) => answer(500, error instanceof Error ? error.message : 'failed'),
    );
  });
}

async function answerTo(url: string, parts: HealthParts): Promise<[number, string]> {
  if (url === '/healthz') return [200, 'ok\n'];
  if (url === '/metrics') return [200, await parts.metrics()];
  if (url !== '/readyz') return [404, 'there are /healthz, /readyz and /metrics\n'];
  const problem = await parts.ready();
  return problem === undefined ? [200, 'ready\n'] : [503, `${problem}\n`];
}
