import {homedir} from 'node:os';
import {env, stderr, stdin, stdout} from 'node:process';
import {Readable, Writable} from 'node:stream';
import {parseArgs} from 'node:util';
import {ndJsonStream} from '@agentclientprotocol/sdk';
import {ScriptedAgent} from './scripted-agent.ts';

/** The process: ACP v1 over standard input and output, or one of the bad agents that tests need. */
const {values} = parseArgs({
  options: {
    'not-acp': {type: 'boolean', default: false},
    exit: {type: 'string'},
    'silent-exit': {type: 'boolean', default: false},
    'never-initialize': {type: 'boolean', default: false},
    'no-resume': {type: 'boolean', default: false},
    'needs-login': {type: 'boolean', default: false},
    'mcp-stdio': {type: 'boolean', default: false},
    'no-mcp': {type: 'boolean', default: false},
  },
});

if (values['silent-exit']) process.exit(0);
if (values.exit !== undefined) {
  stderr.write(`scripted-agent: exits with ${values.exit}, as it was told\n`);
  process.exit(Number(values.exit));
}
if (values['not-acp']) {
  stdout.write('Hello! I am a program that talks, and I never heard of ACP.\n');
  stdin.on('data', () => stdout.write('What did you say?\n'));
} else if (values['never-initialize']) {
  stdin.resume();
} else {
  const agent = new ScriptedAgent({
    env,
    home: homedir(),
    noResume: values['no-resume'],
    needsLogin: values['needs-login'],
    mcp: values['no-mcp'] ? 'none' : values['mcp-stdio'] ? 'stdio' : 'http',
    log: (text) => stderr.write(`scripted-agent: ${text}\n`),
  });
  const connection = agent.app().connect(ndJsonStream(Writable.toWeb(stdout), Readable.toWeb(stdin)));
  // The end of standard input is the polite way to stop an agent; children and open calls must not hold it.
  await connection.closed.catch(() => {});
  process.exit(0);
}
