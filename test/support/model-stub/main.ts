import {readFile} from 'node:fs/promises';
import {parseArgs} from 'node:util';
import {startModelStub} from './server.ts';

/** The stub as a process of its own: `model-stub --cert FILE --key FILE [--host ADDRESS] [--port N] [--api-key KEY]`. */
const {values} = parseArgs({
  options: {
    cert: {type: 'string'},
    key: {type: 'string'},
    host: {type: 'string', default: '0.0.0.0'},
    port: {type: 'string', default: '8443'},
    'api-key': {type: 'string'},
  },
});
if (values.cert === undefined || values.key === undefined) {
  process.stderr.write('model-stub: give --cert FILE and --key FILE, both PEM\n');
  process.exit(2);
}
const stub = await startModelStub({
  cert: await readFile(values.cert, 'utf8'),
  key: await readFile(values.key, 'utf8'),
  host: values.host,
  port: Number(values.port),
  ...(values['api-key'] === undefined ? {} : {apiKey: values['api-key']}),
});
process.stdout.write(`model-stub: listens on ${values.host}:${stub.port}\n`);
process.on('SIGTERM', () => {
  stub.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
