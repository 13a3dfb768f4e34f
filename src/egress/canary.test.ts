import {once} from 'node:events';
import {connect} from 'node:net';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {rest} from '../../test/support/egress-bench.ts';
import {listen} from '../http/listen.ts';
import {createCanary} from './canary.ts';

let canary: ReturnType<typeof createCanary>;
beforeEach(() => {
  canary = createCanary();
});
afterEach(() => void canary.close());

describe('the canary', () => {
  it('lets everybody connect, and says nothing', async () => {
    const socket = connect({host: '127.0.0.1', port: await listen(canary, 0, '127.0.0.1')});
    await once(socket, 'connect');
    expect(await rest(socket).catch(() => '')).toBe('');
  });
});
