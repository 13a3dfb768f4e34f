// Tries to look into every process that this user sees, and to change what belongs to the platform. Runs inside the agent's container.
import {
  chmodSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {connect} from 'node:net';
import {join} from 'node:path';

function outcome(attempt: () => unknown): string {
  try {
    attempt();
    return 'done';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const processes = readdirSync('/proc')
  .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
  .map((pid) => ({
    pid: Number(pid),
    command: text(`/proc/${pid}/cmdline`).split('\0').join(' ').trim(),
    uid: /^Uid:\s+(\d+)/m.exec(text(`/proc/${pid}/status`))?.[1] ?? '',
    environ: outcome(() => readFileSync(`/proc/${pid}/environ`)),
    memory: outcome(() => readSync(openSync(`/proc/${pid}/mem`, 'r'), Buffer.alloc(16), 0, 16, 0x400000)),
    maps: outcome(() => readFileSync(`/proc/${pid}/maps`)),
    files: outcome(() => readdirSync(`/proc/${pid}/fd`)),
    root: outcome(() => readlinkSync(`/proc/${pid}/root`)),
    environment: text(`/proc/${pid}/environ`).split('\0'),
  }));

const writes = {
  newFile: outcome(() => writeFileSync('/run/carrel/mine', 'x')),
  removeSocket: outcome(() => unlinkSync('/run/carrel/shim.sock')),
  openSocket: outcome(() => chmodSync('/run/carrel/shim.sock', 0o777)),
  root: outcome(() => writeFileSync('/mine', 'x')),
};

/** What is below the platform's folder: how much, what of it lets itself be changed, and what reading a binary says. */
function tryRuntime(folder: string) {
  const entries = readdirSync(folder, {withFileTypes: true, recursive: true});
  const folders = [folder, ...entries.filter((one) => one.isDirectory()).map((one) => join(one.parentPath, one.name))];
  const files = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const ways = [
    ...folders.map((path) => ({path, change: () => writeFileSync(join(path, 'mine'), 'x')})),
    ...files.map((path) => ({path, change: () => openSync(path, 'a')})),
    ...[...folders, ...files].map((path) => ({path, change: () => chmodSync(path, 0o777)})),
  ];
  return {
    entries: files.length,
    changed: ways.filter(({change}) => outcome(change) === 'done').map(({path}) => path),
    binaries: Object.fromEntries(
      readdirSync(join(folder, 'bin')).map((name) => [name, outcome(() => readFileSync(join(folder, 'bin', name)))]),
    ),
  };
}

/** A second client of the runner's socket: what it is sent before it is cut off. */
function stranger(): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect('/run/carrel/shim.sock');
    let got = '';
    socket.setTimeout(20_000, () => resolve(`still open, got ${JSON.stringify(got)}`));
    socket.on('data', (data) => {
      got += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(`closed after ${got.length} bytes`));
    socket.on('connect', () => socket.write('{"type":"hello"}\n'));
  });
}

const runtime = tryRuntime('/carrel');
process.stdout.write(JSON.stringify({processes, writes, runtime, stranger: await stranger(), uid: process.getuid?.()}));
process.exit(0);
