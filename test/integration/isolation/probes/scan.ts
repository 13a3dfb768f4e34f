// Connects to every given port and says which ones let it in. Runs inside the agent's container.
import {createSocket} from 'node:dgram';
import {readFileSync} from 'node:fs';
import {connect} from 'node:net';

type Target = {host: string; ports: number[]};
const input: {tcp: Target[]; udp: Target[]} = JSON.parse(Buffer.from(process.argv[2] ?? '', 'base64').toString('utf8'));
const AT_ONCE = 500;
const TIMEOUT = 3_000;

function opens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({host, port});
    const end = (open: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(open);
    };
    const timer = setTimeout(() => end(false), TIMEOUT);
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** A datagram that a name server and an echo both answer: a query for the address of `a.`. */
const QUERY = Buffer.from('00010100000100000000000001610000010001', 'hex');

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const end = (answered: boolean) => {
      clearTimeout(timer);
      socket.close();
      resolve(answered);
    };
    const timer = setTimeout(() => end(false), TIMEOUT);
    socket.once('message', () => end(true));
    socket.once('error', () => end(false));
    socket.send(QUERY, port, host, (error) => {
      if (error) end(false);
    });
  });
}

async function sweep(targets: Target[], probe: (host: string, port: number) => Promise<boolean>): Promise<string[]> {
  const wanted = targets.flatMap(({host, ports}) => ports.map((port) => ({host, port})));
  const open: string[] = [];
  let next = 0;
  const worker = async () => {
    for (let one = wanted[next++]; one !== undefined; one = wanted[next++]) {
      if (await probe(one.host, one.port)) open.push(`${one.host}:${one.port}`);
    }
  };
  await Promise.all(Array.from({length: AT_ONCE}, worker));
  return open.sort();
}

const LISTEN = '0A';
const lines = (name: string) => readFileSync(`/proc/self/net/${name}`, 'utf8').trim().split('\n').slice(1);
const local = (line: string) => line.trim().split(/\s+/)[1] ?? '';
const state = (line: string) => line.trim().split(/\s+/)[3];

const tcp = await sweep(input.tcp, opens);
const udp = await sweep(input.udp, answers);
const bound = {
  tcp: ['tcp', 'tcp6']
    .flatMap((name) =>
      lines(name)
        .filter((line) => state(line) === LISTEN)
        .map(local),
    )
    .sort(),
  udp: ['udp', 'udp6'].flatMap((name) => lines(name).map(local)).sort(),
  abstract: lines('unix').filter((line) => / @/.test(line)),
};
process.stdout.write(JSON.stringify({tcp, udp, bound}));
process.exit(0);
