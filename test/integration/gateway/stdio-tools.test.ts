import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {openRelease, Place, until} from '../../support/release.ts';

let place: Place;

const workspace = {size: '64Mi'};
const scripted = (flag: string) => ({command: ['/usr/local/bin/node', '/app/scripted-agent.js', flag], workspace});

beforeAll(async () => {
  place = await Place.make(await openRelease(), 'stdio');
  await place.agent('piped', {...scripted('--mcp-stdio'), groups: ['self_session', 'ask']});
  await place.agent('toolless', scripted('--no-mcp'));
  await place.session('pipes', {agent: 'piped', prompt: 'tools'});
  await place.session('bare', {agent: 'toolless', prompt: 'say I work without'});
});
afterAll(() => place?.remove());

describe('an agent that takes MCP servers over stdio only', () => {
  it('has the tools of its session, and no others, through the bridge in its own container', async () => {
    const {status} = await place.untilTurn('pipes', 1);
    expect(status?.phase).toBe('Completed');
    const listed = /^tools: (.*)$/m.exec(status?.response ?? '')?.[1] ?? '';
    expect(listed.split(', ').sort()).toEqual(['action_session', 'ask_user', 'get_session']);
  });

  it('is Ready without the condition ToolsNotConnected', async () => {
    const {status} = await place.untilSession('pipes', (s) => s.status?.runner?.state === 'Ready');
    expect(status?.runner?.findings ?? []).toEqual([]);
    expect(status?.conditions?.map((c) => c.type)).not.toContain('ToolsNotConnected');
  });

  it('has them after its pod was replaced, too', async () => {
    const before = (await place.get('pipes')).status?.pod?.uid;
    await place.kubectl(['patch', 'sessions.carrel.dev', 'pipes', '--type=merge', '-p', '{"spec":{"restart":1}}']);
    await place.turn('pipes-2', 'pipes', 'tool get_session {"session_id":"pipes"}');
    const {status} = await place.untilTurn('pipes', 2);
    expect(status?.response).toContain('- ID: pipes');
    const after = await place.untilSession('pipes', (s) => s.status?.pod?.uid !== before);
    expect(after.status?.runner?.findings ?? []).toEqual([]);
  });
});

describe('an agent that takes no MCP server', () => {
  it('works without tools, and its Session says so', async () => {
    expect((await place.untilTurn('bare', 1)).status?.response).toContain('I work without');
    await until(60_000, async () => {
      const {status} = await place.get('bare');
      const condition = status?.conditions?.find((c) => c.type === 'ToolsNotConnected');
      expect(condition).toMatchObject({status: 'True', reason: 'ToolsNotConnected'});
      expect(condition?.message).toContain('was given an MCP server over stdio');
    });
  });
});
