import {createServer, type Server} from 'node:net';

/**
 * Answers on a port that no policy allows: a pod that can connect here is not isolated. Nothing is read or said; the
 * connection alone is the answer.
 */
export function createCanary(): Server {
  const server = createServer({pauseOnConnect: true}, (socket) => {
    socket.on('error', () => undefined);
    socket.destroy();
  });
  server.maxConnections = 1_024;
  return server;
}
